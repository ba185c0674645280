"""Rounds of samples: the schedule by a clock moved by hand, a real table, a cluster that fails."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest
from deltalake import DeltaTable

from group_coordinator import settings
from group_coordinator.clients.cluster.positions import Sample, Skipped
from group_coordinator.clients.errors import BrokerUnreachableError, ClientError
from group_coordinator.driver.errors import StartUpError
from group_coordinator.driver.positions import (
    NothingSampledError,
    PositionRounds,
    repeat,
    summary,
    tables_in_folder,
)
from group_coordinator.settings import JobSettings
from group_coordinator.tables.creation import SAMPLED
from group_coordinator.tables.position import Position, ShareOffset

HOUR = 3_600_000
NOON = 490_000 * HOUR
ORDERS = Position("orders", 0, 100, 110, 110)
NO_LEADER = Skipped("orders-1", "no leader")


class Day:
    """A clock that work and waiting move, and when work began."""

    def __init__(self, *work_takes_s: float) -> None:
        self.now_s = 1_000.0
        self.began_s: list[float] = []
        self._work_takes_s = list(work_takes_s)

    def work(self) -> None:
        self.began_s.append(self.now_s - 1_000)
        self.now_s += self._work_takes_s.pop(0)

    def wait(self, seconds: float) -> bool:
        assert seconds >= 0
        self.now_s += seconds
        return not self._work_takes_s


@pytest.mark.parametrize(
    ("work_takes_s", "begins_s"),
    [
        ([0, 0, 0], [0, 30, 60]),
        ([29, 29, 1], [0, 30, 60]),
        ([30, 1, 1], [0, 60, 90]),
        ([31, 1, 95, 1], [0, 60, 90, 210]),
    ],
    ids=["at once", "just in time", "until the next one is due", "longer"],
)
def test_rounds_keep_their_times_and_those_that_are_missed_do_not_come_later(
    work_takes_s: list[float], begins_s: list[float]
) -> None:
    day = Day(*work_takes_s)

    repeat(day.work, 30, lambda: day.now_s, day.wait)

    assert day.began_s == begins_s


class Cluster:
    """Its next samples, or why there is none."""

    def __init__(self, *outcomes: Sample | ClientError) -> None:
        self._outcomes = list(outcomes)

    def sample(self) -> Sample:
        outcome = self._outcomes.pop(0)
        if isinstance(outcome, ClientError):
            raise outcome
        return outcome


@pytest.fixture
def job(tmp_path: Path) -> JobSettings:
    for table in SAMPLED:
        table.create_on_disk(tmp_path / table.name)
    return replace(settings.load().job, tables_root=str(tmp_path), cluster_id="eu-1")


def rounds(job: JobSettings, *outcomes: Sample | ClientError) -> PositionRounds:
    cluster: Any = Cluster(*outcomes)
    return PositionRounds(job, cluster, tables_in_folder(job))


def sampled(at_ms: int, *skipped: Skipped) -> Sample:
    return Sample([ORDERS], list(skipped), at_ms)


def times(job: JobSettings) -> list[int]:
    rows = DeltaTable(f"{job.tables_root}/topic_positions").to_pyarrow_table().to_pylist()
    return sorted(int(row["sampled_at"].timestamp() * 1000) for row in rows)


def test_a_round_that_fails_is_told_and_the_next_one_tries_again(
    job: JobSettings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    four = rounds(
        job,
        BrokerUnreachableError("no Kafka broker responds"),
        Sample([], [NO_LEADER], NOON),
        sampled(NOON + 1, NO_LEADER),
        sampled(NOON + 2, NO_LEADER),
        sampled(NOON + 3),
    )

    for _ in range(5):
        four.run_or_report()

    assert times(job) == [NOON + 1, NOON + 2, NOON + 3]
    assert [(record.levelname, record.message) for record in caplog.records] == [
        ("WARNING", "this sample failed, and the next follows in time: no Kafka broker responds"),
        (
            "WARNING",
            "this sample failed, and the next follows in time: nothing could be sampled; no leader: orders-1",
        ),
        ("WARNING", "partitions sampled: 1; no leader: orders-1"),
        ("INFO", "partitions sampled: 1"),
    ]


def test_a_table_that_takes_no_sample_is_told_too(
    job: JobSettings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    two = rounds(job, sampled(NOON), sampled(NOON + 1))
    away = (tmp_path / "topic_positions").rename(tmp_path / "away")
    two.run_or_report()
    away.rename(tmp_path / "topic_positions")
    two.run_or_report()

    assert times(job) == [NOON + 1]
    assert "topic_positions cannot be written" in caplog.messages[0]


def test_a_round_alone_fails_only_if_there_is_nothing(job: JobSettings) -> None:
    rounds(job, sampled(NOON, NO_LEADER)).run_alone()

    with pytest.raises(NothingSampledError, match="nothing could be sampled; no leader: orders-1"):
        rounds(job, Sample([], [NO_LEADER], NOON)).run_alone()


@pytest.mark.parametrize(("retention_ms", "left"), [(HOUR, 1), (0, 2)], ids=["an hour", "for ever"])
def test_old_samples_go_with_a_later_round(job: JobSettings, retention_ms: int, left: int) -> None:
    kept = replace(job, positions_retention_ms=retention_ms)
    two = rounds(kept, sampled(NOON), sampled(NOON + 2 * HOUR + 1))

    two.run_alone()
    two.run_alone()

    assert len(times(job)) == left


@pytest.mark.parametrize(("full_ms", "left"), [(24 * HOUR, 2), (0, 3)], ids=["a day", "for ever"])
def test_old_samples_grow_fewer_with_a_later_round(
    job: JobSettings, full_ms: int, left: int
) -> None:
    kept = replace(job, positions_retention_ms=0, positions_full_ms=full_ms)
    three = rounds(kept, *(sampled(at) for at in (NOON, NOON + 1, NOON + 49 * HOUR)))

    for _ in range(3):
        three.run_alone()

    assert len(times(job)) == left


def test_what_is_missing_is_told_by_reason() -> None:
    leaderless = [Skipped(f"orders-{number}", "no leader") for number in range(12)]
    skipped = [*leaderless, Skipped("gone", "UNKNOWN_TOPIC_OR_PARTITION")]

    assert summary(Sample([ORDERS, ORDERS], skipped, NOON)) == (
        "partitions sampled: 2; no leader: orders-0, orders-1, orders-2, orders-3, orders-4, orders-5, orders-6, orders-7, "
        "orders-8, orders-9 and 2 more; UNKNOWN_TOPIC_OR_PARTITION: gone"
    )


@pytest.mark.parametrize("table", ["topic_positions", "share_group_offsets"])
def test_a_table_that_has_not_been_made_is_refused_at_the_start(
    job: JobSettings, tmp_path: Path, table: str
) -> None:
    rmtree(tmp_path / table)

    with pytest.raises(StartUpError, match=f"has no table {table}: run `group-coordinator init`"):
        tables_in_folder(job)


def test_share_groups_are_kept_and_go_as_the_topics_ends(job: JobSettings) -> None:
    kept = replace(job, positions_retention_ms=HOUR)
    finished, fresh = (
        ShareOffset("pickers", "orders", 0, 104, 3, 5),
        ShareOffset("pickers", "orders", 1, None, 0, None),
    )
    three = rounds(
        kept,
        sampled(NOON)._replace(share_offsets=[finished]),
        sampled(NOON + 1),
        sampled(NOON + 2 * HOUR + 1)._replace(share_offsets=[finished, fresh]),
    )
    table = f"{job.tables_root}/share_group_offsets"

    three.run_alone()
    three.run_alone()
    assert DeltaTable(table).version() == 1
    three.run_alone()

    rows = DeltaTable(table).to_pyarrow_table().to_pylist()
    later = datetime.fromtimestamp((NOON + 2 * HOUR + 1) / 1_000, UTC)
    assert sorted(tuple(row.values()) for row in rows) == [
        ("eu-1", *finished, later),
        ("eu-1", *fresh, later),
    ]


def test_a_topics_id_is_noted_when_it_is_new(job: JobSettings) -> None:
    orders, refunds = "4ksO1bcLSgCStYJnTlCVLg", "AAAAAAAAAAAAAAAAAAAAAQ"
    first = rounds(
        job,
        sampled(NOON)._replace(topic_ids={orders: "orders"}),
        sampled(NOON + 1)._replace(topic_ids={orders: "orders", refunds: "refunds"}),
    )
    first.run_alone()
    first.run_alone()
    rounds(job, sampled(NOON + 2)._replace(topic_ids={orders: "orders"})).run_alone()

    rows = DeltaTable(f"{job.tables_root}/topic_ids").to_pyarrow_table().to_pylist()
    assert sorted(
        (row["cluster_id"], row["topic"], row["topic_id"], row["first_seen_at"].timestamp() * 1_000)
        for row in rows
    ) == [("eu-1", "orders", orders, NOON), ("eu-1", "refunds", refunds, NOON + 1)]
