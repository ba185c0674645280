"""What the coordinator remembers of outages, and how a batch's tasks hear of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec import json
from pyspark.sql import SparkSession

from group_coordinator.core.deadlines import SLOW_MS, Outage, Outages
from group_coordinator.runtime.update_group import UpdateContext
from group_coordinator.settings import Settings
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.streaming.checkpoint.layout import coordinator_folder
from group_coordinator.streaming.checkpoint.plans import Plans
from group_coordinator.streaming.operator.worker_function import in_this_task
from group_coordinator.streaming.task_properties import OUTAGES_PROPERTY, OutageLog

pytestmark = pytest.mark.spark

AWAY = Outage(1_000, 90_000, was_heard=False)


@pytest.fixture
def folder(spark: SparkSession, configured: Settings) -> CheckpointFolder:
    return coordinator_folder(spark, configured.job)


@pytest.fixture(autouse=True)
def no_outages_for_others(spark: SparkSession) -> Iterator[None]:
    yield
    spark.sparkContext.setLocalProperty(OUTAGES_PROPERTY, None)


def plan(folder: CheckpointFolder, batch_id: int, at_ms: int, ends: str = "{}") -> None:
    metadata = json.encode({"batchWatermarkMs": 0, "batchTimestampMs": at_ms, "conf": {}}).decode()
    folder.write(f"offsets/{batch_id}", f"v1\n{metadata}\n{ends}")


def remembered(folder: CheckpointFolder) -> Outages:
    text = folder.read_newest("outages")
    return () if text is None else json.decode(text, type=Outages)


def known_to_tasks(spark: SparkSession, settings: Settings) -> list[Outages]:
    context = UpdateContext(settings.coordinator, "group-events", 0, timers_suspended=False)
    tasks = spark.sparkContext.parallelize(range(2), 2)
    return tasks.map(lambda _: in_this_task(context).outages).collect()


def test_tasks_know_what_was_remembered_when_their_batch_began(
    spark: SparkSession, configured: Settings, folder: CheckpointFolder
) -> None:
    assert known_to_tasks(spark, configured) == [(), ()]
    log = OutageLog(spark, folder, Plans(folder))
    log.add(AWAY)
    assert known_to_tasks(spark, configured) == [(), ()]

    log.begin(0)

    assert known_to_tasks(spark, configured) == [(AWAY,), (AWAY,)]


def test_the_next_run_knows_them_in_the_order_of_their_ends(
    spark: SparkSession, configured: Settings, folder: CheckpointFolder
) -> None:
    earlier = Outage(0, 50_000, was_heard=True)
    log = OutageLog(spark, folder, Plans(folder))
    for outage in (AWAY, earlier, AWAY):
        log.add(outage)

    OutageLog(spark, folder, Plans(folder)).begin(0)

    assert known_to_tasks(spark, configured) == [(earlier, AWAY)] * 2


@pytest.mark.parametrize(
    ("gap_ms", "expected"), [(SLOW_MS, ()), (SLOW_MS + 1, ((5_000, 5_001 + SLOW_MS, True, 4_900),))]
)
def test_a_batch_that_comes_late_let_members_wait(
    spark: SparkSession, folder: CheckpointFolder, gap_ms: int, expected: tuple[object, ...]
) -> None:
    """Those whose events it brings, and those whose events the batch before it was slow with."""
    log = OutageLog(spark, folder, Plans(folder))
    plan(folder, 5, 4_900)
    plan(folder, 6, 5_000)
    plan(folder, 7, 5_000 + gap_ms)

    log.add_wait_for(7)
    log.add_wait_for(7)

    assert remembered(folder) == tuple(Outage(*of) for of in expected)  # type: ignore[misc]


def test_nobody_waits_while_a_batch_lies_idle(
    spark: SparkSession, folder: CheckpointFolder
) -> None:
    rested = {6: 20_001}
    log = OutageLog(spark, folder, Plans(folder), lambda batch_id: rested[batch_id])
    plan(folder, 6, 5_000)
    plan(folder, 7, 5_000 + SLOW_MS + 20_001)

    log.add_wait_for(7)
    assert remembered(folder) == ()

    rested[6] = 20_000
    log.add_wait_for(7)
    assert remembered(folder) == (Outage(5_000, 5_001 + SLOW_MS, was_heard=True, asked_ms=5_000),)


def test_in_a_backlog_an_event_waits_from_before_the_first_batch_that_was_cut(
    spark: SparkSession, folder: CheckpointFolder
) -> None:
    log = OutageLog(spark, folder, Plans(folder), limit=100)
    ends = {1: 10, 2: 20, 3: 120, 4: 220, 5: 320, 6: 330, 7: 340}
    for batch_id, end in ends.items():
        plan(folder, batch_id, 1_000 * batch_id, '{"group-events":{"0":%d}}' % end)  # noqa: UP031
    remembered_after = {}
    for batch_id in range(3, 8):
        log.add_wait_for(batch_id)
        remembered_after[batch_id] = remembered(folder)

    assert remembered_after == {
        3: (),
        4: (),
        5: (Outage(4_000, 5_000, was_heard=True, asked_ms=2_000),),
        6: (Outage(4_000, 6_000, was_heard=True, asked_ms=2_000),),
        7: (Outage(4_000, 6_000, was_heard=True, asked_ms=2_000),),
    }


def test_a_batch_that_is_done_again_knows_no_more_than_before(
    spark: SparkSession, folder: CheckpointFolder
) -> None:
    """An earlier run planned it, perhaps a drain, which notes nothing."""
    plan(folder, 6, 5_000)
    plan(folder, 7, 65_000)
    log = OutageLog(spark, folder, Plans(folder))

    log.add_wait_for(7)
    assert remembered(folder) == ()
    log.begin(7)
    log.add(Outage(63_000, 70_000, was_heard=False))
    log.add(Outage(60_000, 64_000, was_heard=False))

    assert remembered(folder) == (Outage(65_000, 70_000, was_heard=False),)


def test_nobody_waited_for_the_first_batch(spark: SparkSession, folder: CheckpointFolder) -> None:
    log = OutageLog(spark, folder, Plans(folder))
    plan(folder, 0, 5_000)

    log.add_wait_for(0)

    assert folder.read_newest("outages") is None
