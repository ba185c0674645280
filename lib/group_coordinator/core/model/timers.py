"""Timers: their deadlines, and the keys by which a group finds them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from enum import StrEnum
from typing import Self

from group_coordinator.core.value import Value

NEVER_MS = 2**62
"""Later than every deadline: with a timeout added it still has 64 bits."""


class TimerKind(StrEnum):
    """The kind of a timer. The values are the beginnings of texts of keys, in group states too."""

    SESSION = "session:"
    """The session of a member, or of the owner of a pending member id."""

    JOIN_PHASE = "join"
    """The join phase of a classic group, with its initial delay."""

    SYNC_PHASE = "sync"
    """The sync phase of a classic group."""

    REBALANCE = "rebalance:"
    """The time in which a member of a consumer group must revoke partitions."""

    MEMBER_JOIN = "join:"
    """The time in which a classic member of a consumer group must join again."""

    MEMBER_SYNC = "sync:"
    """The time in which a classic member of a consumer group must fetch its assignment."""

    REGEX = "regex"
    """No limit: the timer resolves regular expressions, and is due at once."""


class TimerKey(Value, frozen=True):
    """The key of a timer of the group or of a member."""

    kind: TimerKind
    member_id: str = ""

    @property
    def text(self) -> str:
        """The key as one text: the beginning of the kind, then the member id."""
        return self.kind + self.member_id

    @classmethod
    def of(cls, text: str) -> TimerKey:
        name, colon, member_id = text.partition(":")
        return cls(TimerKind(name + colon), member_id)


JOIN_TIMER = TimerKey(TimerKind.JOIN_PHASE)
SYNC_TIMER = TimerKey(TimerKind.SYNC_PHASE)
REGEX_TIMER = TimerKey(TimerKind.REGEX)

CLASSIC_MEMBER_KINDS = (TimerKind.MEMBER_JOIN, TimerKind.MEMBER_SYNC)
"""Timers of the classic members of a consumer group."""

# A left timer may fire in the converted group, and Kafka's outcome of that is the rule here.
KINDS_LEFT_BY_CONVERSIONS = (TimerKind.JOIN_PHASE, *CLASSIC_MEMBER_KINDS)
"""Timers that Kafka does not cancel when a group is converted to the other type. They act on the group that they find."""


class Timer(Value, frozen=True):
    """A deadline and the time at which it was set: timers of the same millisecond fire in the order in which they were set."""

    due_ms: int
    armed_ms: int


class Timers(MutableMapping[TimerKey, Timer]):
    """The timers of a group, in the order in which they were set.

    They are stored by the texts of their keys, as in a group state. A group of ten thousand members thus makes only the keys
    that are used.
    """

    __slots__ = ("by_text",)

    def __init__(self, timers: Mapping[TimerKey, Timer] | None = None) -> None:
        self.by_text = {key.text: timer for key, timer in (timers or {}).items()}

    @classmethod
    def of_texts(cls, by_text: dict[str, Timer]) -> Self:
        """Make timers from the texts of their keys. They take over the dictionary."""
        timers = cls()
        timers.by_text = by_text
        return timers

    def copy(self) -> Self:
        return self.of_texts(self.by_text.copy())

    def arm(self, key: TimerKey, due_ms: int, armed_ms: int) -> None:
        """Set a timer. A timer that is set again moves behind all others."""
        text = key.text
        # Removed first: a dict would keep the old place of the key.
        self.by_text.pop(text, None)
        self.by_text[text] = Timer(due_ms, armed_ms)

    def cancel(self, key: TimerKey) -> None:
        """Cancel a timer; no error if it is not set."""
        self.by_text.pop(key.text, None)

    def soonest(self) -> tuple[TimerKey, Timer]:
        """Return the timer that is due first. There must be at least one timer."""
        soonest_ms = min([timer.due_ms for timer in self.by_text.values()])
        timers = self.by_text.items()
        # The first in the order of setting wins among timers of the same millisecond.
        text, timer = next(item for item in timers if item[1].due_ms == soonest_ms)
        return TimerKey.of(text), timer

    def __getitem__(self, key: TimerKey) -> Timer:
        return self.by_text[key.text]

    def __setitem__(self, key: TimerKey, timer: Timer) -> None:
        self.by_text[key.text] = timer

    def __delitem__(self, key: TimerKey) -> None:
        del self.by_text[key.text]

    def __iter__(self) -> Iterator[TimerKey]:
        return map(TimerKey.of, self.by_text)

    def __len__(self) -> int:
        return len(self.by_text)

    def __repr__(self) -> str:
        return f"Timers({self.by_text})"


def session_timer(member_id: str) -> TimerKey:
    return TimerKey(TimerKind.SESSION, member_id)
