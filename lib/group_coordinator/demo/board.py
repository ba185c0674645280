"""The state of the demo: written by its working parts, read by the screen."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, Generic, TypeVar

Figures = TypeVar("Figures")
"""Numbers that a demo counts and measures: a frozen dataclass, of another type in each demo."""

_KEPT = 60
"""More lines than fit on a screen."""


@dataclass(frozen=True, slots=True)
class Happening:
    """An event of the story; `detail` has its lines, such as a command's output."""

    at_s: float
    sentence: str
    detail: tuple[str, ...] = ()


@dataclass(frozen=True)
class Frame(Generic[Figures]):
    """The state of the demo at a point in time."""

    figures: Figures
    elapsed_s: float = 0.0
    expected_s: float = 0.0
    now: str = ""
    """The present event, in a sentence."""
    is_ending: bool = False
    told: tuple[Happening, ...] = ()


class Board(Generic[Figures]):
    """The latest frame; any thread may change it."""

    def __init__(
        self, figures: Figures, expected_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._started_s = clock()
        self._lock = Lock()
        self._frame = Frame(figures, expected_s=expected_s)
        self._listeners: list[Callable[[Happening], None]] = []

    @property
    def elapsed_s(self) -> float:
        """Seconds since the demo began."""
        return self._clock() - self._started_s

    def frame(self) -> Frame[Figures]:
        return replace(self._frame, elapsed_s=self.elapsed_s)

    def expect_end_in(self, seconds: float) -> None:
        """Set the remaining time of the demo, as far as it is known."""
        self._change(expected_s=self.elapsed_s + seconds)

    def announce_end(self) -> None:
        """Show that all processes are being ended."""
        self._change(is_ending=True)

    def show(self, **fields: Any) -> None:
        """Change some of the figures."""
        with self._lock:
            figures: Any = self._frame.figures
            self._frame = replace(self._frame, figures=replace(figures, **fields))

    def say(self, sentence: str) -> None:
        """Show a sentence as the present event, and add it to the story."""
        self._change(now=sentence)
        self.tell(sentence)

    def tell(self, sentence: str, detail: tuple[str, ...] = ()) -> None:
        """Add a sentence to the story."""
        happening = Happening(self.elapsed_s, sentence, detail)
        with self._lock:
            self._frame = replace(self._frame, told=(*self._frame.told, happening)[-_KEPT:])
        for listener in self._listeners:
            listener(happening)

    def listen(self, listener: Callable[[Happening], None]) -> None:
        """Call the listener for all further sentences of the story."""
        self._listeners.append(listener)

    def _change(self, **fields: Any) -> None:
        with self._lock:
            self._frame = replace(self._frame, **fields)
