"""SIGTERM and Ctrl-C as a wish, in a process without a JVM: whoever runs ends at the next good moment."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


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

    before = {number: signal.signal(number, note) for number in _SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)
