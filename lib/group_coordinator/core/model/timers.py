"""Timers: when they are due, and the keys by which a group finds them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from enum import StrEnum
from typing import Self

from group_coordinator.core.value import Value

NEVER_MS = 2**62
"""Later than every deadline: even with a timeout added it is a 64-bit number."""


class TimerKind(StrEnum):
    """What a timer limits; the values are what the texts of keys begin with, in snapshots too."""

    SESSION = "session:"
    """The silence of a member, or of the owner of a pending member id."""

    JOIN_PHASE = "join"
    """The join phase of a classic group, its initial delay included."""

    SYNC_PHASE = "sync"
    """The sync phase of a classic group."""

    REBALANCE = "rebalance:"
    """The time in which a member of a consumer group must give partitions back."""

    MEMBER_JOIN = "join:"
    """The time in which a classic member of a consumer group must join again."""

    MEMBER_SYNC = "sync:"
    """The time in which a classic member of a consumer group must fetch its assignment."""

    REGEX = "regex"
    """Nothing: it brings the result of a resolution of regular expressions, and is due at once."""


class TimerKey(Value, frozen=True):
    """One timer of a group: the group's own, or that of a member."""

    kind: TimerKind
    member_id: str = ""

    @property
    def text(self) -> str:
        """The key as one text: the beginning that names the kind, then the member id."""
        return self.kind + self.member_id

    @classmethod
    def of(cls, text: str) -> TimerKey:
        """The key that a text stands for."""
        name, colon, member_id = text.partition(":")
        return cls(TimerKind(name + colon), member_id)


JOIN_TIMER = TimerKey(TimerKind.JOIN_PHASE)
SYNC_TIMER = TimerKey(TimerKind.SYNC_PHASE)
REGEX_TIMER = TimerKey(TimerKind.REGEX)

CLASSIC_MEMBER_KINDS = (TimerKind.MEMBER_JOIN, TimerKind.MEMBER_SYNC)
"""Timers of the classic members of a consumer group."""

KINDS_LEFT_BY_CONVERSIONS = (TimerKind.JOIN_PHASE, *CLASSIC_MEMBER_KINDS)
"""Timers that Kafka does not cancel where a group turns into one of the other type; they go by the group they then find."""


class Timer(Value, frozen=True):
    """A deadline and when it was set: timers of one millisecond fire in the order they were set."""

    due_ms: int
    armed_ms: int


class Timers(MutableMapping[TimerKey, Timer]):
    """The timers of a group, in the order they were set.

    They are kept by the texts of their keys, as a snapshot has them: a group of ten thousand members makes the keys
    alone that somebody asks for.
    """

    __slots__ = ("by_text",)

    def __init__(self, timers: Mapping[TimerKey, Timer] | None = None) -> None:
        self.by_text = {key.text: timer for key, timer in (timers or {}).items()}

    @classmethod
    def of_texts(cls, by_text: dict[str, Timer]) -> Self:
        """The timers by the texts of their keys; the dictionary belongs to them from now on."""
        timers = cls()
        timers.by_text = by_text
        return timers

    def copy(self) -> Self:
        """Timers that can be changed without touching these."""
        return self.of_texts(self.by_text.copy())

    def arm(self, key: TimerKey, due_ms: int, armed_ms: int) -> None:
        """Set a timer, or set it anew, behind all others."""
        text = key.text
        self.by_text.pop(text, None)
        self.by_text[text] = Timer(due_ms, armed_ms)

    def cancel(self, key: TimerKey) -> None:
        """Forget a timer; no error if it is not set."""
        self.by_text.pop(key.text, None)

    def soonest(self) -> tuple[TimerKey, Timer]:
        """Of one timer or more the one that is due first."""
        soonest_ms = min([timer.due_ms for timer in self.by_text.values()])
        timers = self.by_text.items()
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
    """The key of a member's session."""
    return TimerKey(TimerKind.SESSION, member_id)
