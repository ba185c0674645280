"""Timers: when they are due, and the keys by which a group finds them."""

from __future__ import annotations

from enum import StrEnum

from group_coordinator.core.value import Value

NEVER_MS = 2**62
"""Later than every deadline: even with a timeout added it is a 64-bit number."""


class TimerKind(StrEnum):
    """What a timer limits."""

    SESSION = "session"
    """The silence of a member, or of the owner of a pending member id."""

    JOIN_PHASE = "join-phase"
    """The join phase of a classic group, its initial delay included."""

    SYNC_PHASE = "sync-phase"
    """The sync phase of a classic group."""

    REBALANCE = "rebalance"
    """The time in which a member of a consumer group must give partitions back."""

    MEMBER_JOIN = "member-join"
    """The time in which a classic member of a consumer group must join again."""

    MEMBER_SYNC = "member-sync"
    """The time in which a classic member of a consumer group must fetch its assignment."""

    REGEX = "regex"
    """Nothing: it brings the result of a resolution of regular expressions, and is due at once."""


class TimerKey(Value, frozen=True, cache_hash=True):
    """One timer of a group: the group's own, or that of a member."""

    kind: TimerKind
    member_id: str = ""


JOIN_TIMER = TimerKey(TimerKind.JOIN_PHASE)
SYNC_TIMER = TimerKey(TimerKind.SYNC_PHASE)
REGEX_TIMER = TimerKey(TimerKind.REGEX)

CLASSIC_MEMBER_KINDS = (TimerKind.MEMBER_JOIN, TimerKind.MEMBER_SYNC)
"""Timers of the classic members of a consumer group."""


class Timer(Value, frozen=True):
    """A deadline and when it was set: timers of one millisecond fire in the order they were set."""

    due_ms: int
    armed_ms: int


def session_timer(member_id: str) -> TimerKey:
    """The key of a member's session."""
    return TimerKey(TimerKind.SESSION, member_id)
