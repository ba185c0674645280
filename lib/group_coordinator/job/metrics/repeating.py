"""What figures may cost: a look now and then, a small part of the time, and never the job."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from threading import Event

from group_coordinator.job.pace import MOST_OF_THE_TIME

_log = logging.getLogger(__name__)


def repeat_quietly(look: Callable[[], None], interval_s: float, ended: Event) -> None:
    """Look at once, and again and again until `ended` is set; less often where that would take much of the time.

    A look that fails is told, unless the one before failed in the same way, and the next one tries again.
    """
    told = ""
    while not ended.is_set():
        begun_s = time.monotonic()
        try:
            look()
            told = ""
        except Exception as failure:  # noqa: BLE001 - figures end no job
            if told != (told := str(failure)):
                _log.warning("the metrics are not complete: %s", failure)
        took_s = time.monotonic() - begun_s
        ended.wait(max(interval_s, took_s / MOST_OF_THE_TIME - took_s))
