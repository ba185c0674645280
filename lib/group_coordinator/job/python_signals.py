"""SIGTERM and Ctrl-C, as Python hears them: a wish to end at the next good moment, or, while a command starts, its end."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, current_thread, main_thread
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_Handler = Callable[[int, FrameType | None], None]


class TerminatedError(KeyboardInterrupt):
    """SIGTERM ends the command. As for Ctrl-C, no `except Exception` catches it."""

    status = 128 + signal.SIGTERM
    """The exit status that shells know."""


class Stop(Event):
    """What a signal sets."""

    number: int | None = None
    """Of the signal."""


@contextmanager
def stop_on_signals_to_python() -> Iterator[Stop]:
    """An event that a signal sets, for a process without a JVM."""
    stop = Stop()

    def note(number: int, _frame: FrameType | None) -> None:
        stop.number = number
        stop.set()

    with on_signals(note):
        yield stop


@contextmanager
def signals_raised_in_python() -> Iterator[None]:
    """SIGTERM raises TerminatedError in the block, Ctrl-C KeyboardInterrupt, where no inner block has another way."""

    def end(number: int, _frame: FrameType | None) -> None:
        raise TerminatedError if number == signal.SIGTERM else KeyboardInterrupt

    with on_signals(end):
        yield


@contextmanager
def on_signals(handle: _Handler) -> Iterator[None]:
    """Handle SIGINT and SIGTERM in the block; in another thread than the main one, which hears none, as before."""
    if current_thread() is not main_thread():
        yield
        return
    before = {number: signal.signal(number, handle) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)
