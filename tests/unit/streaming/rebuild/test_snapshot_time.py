"""When a snapshot that fails is tried again; tests/spark/test_rebuild.py has real ones that do not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pyspark.errors import PySparkException

from group_coordinator import settings
from group_coordinator.streaming.rebuild import snapshots as snapshot_time
from group_coordinator.streaming.rebuild.snapshots import Snapshot, SnapshotTime, pause_after

MINUTE = 60_000
HOUR = 60 * MINUTE
NOON = 490_000 * HOUR
NO_SPARK: Any = None


class Snapshots:
    """Taken at the minutes after noon that `attempts` has; they fail as long as `is_broken`."""

    def __init__(self) -> None:
        self.minute = 0
        self.is_broken = True
        self.attempts: list[int] = []

    def time_ns(self) -> int:
        return (NOON + self.minute * MINUTE) * 1_000_000

    def newest(self, *_: object) -> Snapshot:
        return Snapshot(7, NOON - 2 * HOUR, {})

    def take(self, *_: object) -> Snapshot:
        self.attempts.append(self.minute)
        if self.is_broken:
            raise PySparkException("the disk is full\nat Parquet")
        return Snapshot(8, NOON, {})


@pytest.fixture
def snapshots(monkeypatch: pytest.MonkeyPatch) -> Snapshots:
    made = Snapshots()
    monkeypatch.setattr(snapshot_time.time, "time_ns", made.time_ns)
    monkeypatch.setattr(snapshot_time, "newest_snapshot", made.newest)
    monkeypatch.setattr(snapshot_time, "first_claimed_ms", lambda *_: None)
    monkeypatch.setattr(snapshot_time, "take_snapshot", made.take)
    return made


def test_a_snapshot_that_fails_is_tried_again_after_growing_pauses(
    snapshots: Snapshots, caplog: pytest.LogCaptureFixture
) -> None:
    job = replace(settings.load().job, snapshot_interval_ms=10 * MINUTE)
    times = SnapshotTime(NO_SPARK, job)

    for snapshots.minute in range(40):
        snapshots.is_broken = snapshots.minute < 24
        times.look()
        times.look()

    # Pauses of 1, 2, 4, 8 and 10 minutes; the one at 25 is well, and the next one an interval later.
    assert snapshots.attempts == [0, 1, 3, 7, 15, 25, 35]
    assert caplog.messages[0] == (
        "the snapshot failed, so a rebuild would read more of the log; it is tried again in 60 s: the disk is "
        "full"
    )


def test_the_first_failure_after_a_snapshot_begins_with_the_shortest_pause(
    snapshots: Snapshots,
) -> None:
    job = replace(settings.load().job, snapshot_interval_ms=10 * MINUTE)
    times = SnapshotTime(NO_SPARK, job)

    for snapshots.minute in range(18):
        snapshots.is_broken = snapshots.minute in {0, 1, 13}
        times.look()

    assert snapshots.attempts == [0, 1, 3, 13, 14]


@pytest.mark.parametrize(
    ("failures", "pause_ms"),
    [(1, MINUTE), (2, 2 * MINUTE), (6, 32 * MINUTE), (7, HOUR), (999, HOUR)],
)
def test_no_pause_is_longer_than_the_interval(failures: int, pause_ms: int) -> None:
    assert pause_after(failures, HOUR) == pause_ms
