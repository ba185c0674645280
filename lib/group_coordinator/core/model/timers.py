"""Timers: when they are due, and the keys by which a group finds them."""

from __future__ import annotations

from group_coordinator.core.value import Value

JOIN_TIMER = "join"
SYNC_TIMER = "sync"
_SESSION_TIMER = "session:"
NEVER_MS = 2**62
"""Later than every deadline: even with a timeout added it is a 64-bit number."""


class Timer(Value, frozen=True):
    """A deadline and when it was set: timers of one millisecond fire in the order they were set."""

    due_ms: int
    armed_ms: int


def session_timer(member_id: str) -> str:
    """The key of the timer that removes a member, or a pending member, that falls silent."""
    return _SESSION_TIMER + member_id


def is_session_timer(key: str) -> bool:
    """Whether the key was made by session_timer."""
    return key.startswith(_SESSION_TIMER)


def member_of_session_timer(key: str) -> str:
    """The member id inside a key made by session_timer."""
    return key.removeprefix(_SESSION_TIMER)
