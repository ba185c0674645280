"""Orderly end of the demo after Ctrl-C, SIGTERM or a closed terminal."""

from __future__ import annotations

import signal
import time
from types import FrameType
from typing import Any, Self

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_POLL_SECONDS = 0.05


class Interrupted(Exception):  # noqa: N818 - not an error, a wish
    """The demo must end now."""

    def __init__(self, signal_number: int) -> None:
        super().__init__("Interrupted. Nothing runs any more, and nothing is left behind.")
        self.exit_status = 128 + signal_number
        """The exit status of a program that ended by this signal, as shells report it."""


class Interruption:
    """Notes a signal; every wait of the demo checks for it.

    A handler that raises could do so between the start of a process and the note that it must be ended.
    """

    def __init__(self) -> None:
        self._signal_number: int | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number in _SIGNALS:
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            # A second Ctrl-C must not disturb the closing words.
            signal.signal(number, signal.SIG_IGN if self.is_requested else handler)

    @property
    def is_requested(self) -> bool:
        """True if the demo must end."""
        return self._signal_number is not None

    def check(self) -> None:
        """Raise Interrupted if the demo must end."""
        if self._signal_number is not None:
            raise Interrupted(self._signal_number)

    def pause(self, seconds: float) -> None:
        """Sleep; raise Interrupted as soon as the demo must end."""
        deadline = time.monotonic() + seconds
        self.check()
        while (rest := deadline - time.monotonic()) > 0:
            time.sleep(min(rest, _POLL_SECONDS))
            self.check()

    def _note(self, signal_number: int, _: FrameType | None) -> None:
        # Nothing but an assignment: a lock that the interrupted code holds would never be released.
        self._signal_number = self._signal_number or signal_number
