"""The state of the demo: written by its working parts, read by the screen."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from types import MappingProxyType
from typing import Any

from group_coordinator.demo.measures import Latency

_KEPT = 60
"""More than fits on a screen."""


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that happened; `detail` has lines that belong to it, such as a command's output."""

    at_s: float
    sentence: str
    detail: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Frame:
    """The demo at one moment; None or empty: not known yet."""

    elapsed_s: float = 0.0
    expected_s: float = 0.0
    now: str = ""
    """What happens now, in one sentence."""
    is_ending: bool = False
    group_states: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """Groups by state, as the coordinator describes them."""
    member_count: int = 0
    consumer_group_count: int = 0
    """Groups whose members speak the consumer protocol (KIP-848)."""
    requests_per_s: float | None = None
    latency: Latency | None = None
    batch_s: float | None = None
    offset_count: int | None = None
    expired_count: int | None = None
    deleted_count: int | None = None
    told: tuple[Happening, ...] = ()


class Board:
    """The latest frame; any thread may change it."""

    def __init__(self, expected_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started_s = clock()
        self._lock = Lock()
        self._frame = Frame(expected_s=expected_s)
        self._listeners: list[Callable[[Happening], None]] = []

    @property
    def elapsed_s(self) -> float:
        """Seconds since the demo began."""
        return self._clock() - self._started_s

    def frame(self) -> Frame:
        """The demo now."""
        return replace(self._frame, elapsed_s=self.elapsed_s)

    def expect_end_in(self, seconds: float) -> None:
        """Say how long the demo will still take, as far as is known now."""
        self.show(expected_s=self.elapsed_s + seconds)

    def show(self, **fields: Any) -> None:
        """Change some fields of the frame."""
        with self._lock:
            self._frame = replace(self._frame, **fields)

    def say(self, sentence: str) -> None:
        """Show what happens now, and add it to the story."""
        self.show(now=sentence)
        self.tell(sentence)

    def tell(self, sentence: str, detail: tuple[str, ...] = ()) -> None:
        """Add to the story."""
        happening = Happening(self.elapsed_s, sentence, detail)
        with self._lock:
            self._frame = replace(self._frame, told=(*self._frame.told, happening)[-_KEPT:])
        for listener in self._listeners:
            listener(happening)

    def listen(self, listener: Callable[[Happening], None]) -> None:
        """Call the listener for everything that is added from now on."""
        self._listeners.append(listener)
