"""Handlers of SIGTERM and Ctrl-C in Python: an event for a running command, or an exception while a command starts."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, current_thread, main_thread
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_Handler = Callable[[int, FrameType | None], None]


class TerminatedError(KeyboardInterrupt):
    """SIGTERM ends the command. Like Ctrl-C, it is not caught by `except Exception`."""

    status = 128 + signal.SIGTERM
    """The exit status by the convention of shells."""


class Stop(Event):
    number: int | None = None
    """Number of the signal."""


@contextmanager
def stop_on_signals_to_python() -> Iterator[Stop]:
    """Yield an event that a signal sets, for a process without a JVM."""
    stop = Stop()

    def note(number: int, _frame: FrameType | None) -> None:
        stop.number = number
        stop.set()

    with on_signals(note):
        yield stop


@contextmanager
def signals_raised_in_python() -> Iterator[None]:
    """Raise TerminatedError for SIGTERM and KeyboardInterrupt for Ctrl-C, unless an inner block has its own handler."""

    def end(number: int, _frame: FrameType | None) -> None:
        raise TerminatedError if number == signal.SIGTERM else KeyboardInterrupt

    with on_signals(end):
        yield


@contextmanager
def on_signals(handle: _Handler) -> Iterator[None]:
    """Handle SIGINT and SIGTERM in the block. Only the main thread gets signals; in other threads nothing changes."""
    if current_thread() is not main_thread():
        yield
        return
    before = {number: signal.signal(number, handle) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)
