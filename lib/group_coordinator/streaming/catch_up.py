"""With a rate limit, the backlog of a start is read before any timer fires: clock rule 6 (lib/README.md)."""

from __future__ import annotations

import time
from collections.abc import Callable

from pyspark.sql import SparkSession

from group_coordinator.runtime import hold_windows
from group_coordinator.runtime.hold_windows import Windows
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.layout import (
    coordinator_folder,
    read_windows,
    write_windows,
)


def windows_after_catch_up(
    spark: SparkSession, job: JobSettings, read_backlog: Callable[[Windows], bool]
) -> Windows:
    """Read the backlog with timers on hold if the rate is limited; the hold windows for the time after it.

    `read_backlog` runs the query with the windows it is given and says whether it reached the end. An open window of an
    earlier run stays open, whatever the limit is today.
    """
    folder = coordinator_folder(spark, job)
    windows = read_windows(folder)
    if not job.max_offsets_per_trigger and not hold_windows.has_open(windows):
        return windows
    windows = hold_windows.opened(windows, _now_ms())
    write_windows(folder, windows)
    if read_backlog(windows):
        windows = hold_windows.closed(windows, _now_ms())
        write_windows(folder, windows)
    return windows


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
