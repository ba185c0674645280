"""SIGTERM and Ctrl-C as a wish: whoever runs ends at the next good moment."""

from __future__ import annotations

import signal
from threading import Event
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def stop_on_signals() -> Event:
    """An event that a signal sets; call it after Spark has started, which has a handler of its own."""
    stop = Event()

    def note(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    for number in _SIGNALS:
        signal.signal(number, note)
    return stop
