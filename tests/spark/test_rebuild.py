from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from group_coordinator.codecs import snapshots
from group_coordinator.core.model import requests
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.group import Group
from group_coordinator.runtime.outputs import seed_of
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.folder import DamagedFileError
from group_coordinator.streaming.checkpoint.layout import (
    GROUPS,
    Origin,
    coordinator_folder,
    folder_of_groups,
    read_origin,
)
from group_coordinator.streaming.checkpoint.ownership import CheckpointError, checked_writer
from group_coordinator.streaming.rebuild import rebuild as rebuild_module
from group_coordinator.streaming.rebuild import snapshots as snapshot_time
from group_coordinator.streaming.rebuild.rebuild import Rebuilt, check_seeds, rebuild
from group_coordinator.streaming.rebuild.snapshots import (
    Snapshot,
    SnapshotTime,
    newest_snapshot,
    take_snapshot,
)
from group_coordinator.streaming.source import PACKED
from group_coordinator.tables.catalog import TableCatalog
from tests.support.log_rows import Log, member
from tests.unit.core.consumer_groups import ORD, two_members_sharing_orders

pytestmark = pytest.mark.spark

TOPIC_HOLDS = {0: range(100), 1: range(5, 50)}
DEAD_LETTER = {
    "source_topic": "'group-events'",
    "source_partition": "1",
    "source_offset": "18L",
    "reason": "'not JSON'",
    "value": "NULL",
    "event_time": "current_timestamp()",
    "ingested_at": "current_timestamp()",
    "cluster_id": "'test'",
    "group_id": "'a'",
    "batch_id": "9L",
}


def write(job: JobSettings, log: Log, cluster_id: str = "test") -> None:
    """Rows whose events are in partition 0, each at the offset that is the row's number."""
    places = log.table()["seq"].cast(pa.int64())
    rows = log.table(cluster_id=cluster_id, source_topic="group-events", source_partition=0)
    at = rows.column_names.index("source_offset")
    placed = rows.set_column(at, rows.schema.field(at), places)
    write_deltalake(log_table(job), placed, mode="append")


def log_table(job: JobSettings) -> DeltaTable:
    return DeltaTable(TableCatalog(job.tables_root).location("coordinator_log"))


def some_groups(batch_id: int = 7) -> Log:
    log = Log(batch_id=batch_id)
    log.commit("simple", "orders", 0, 41)
    log.commit("simple", "orders", 0, 42)
    log.commit("gone", "orders", 0, 1)
    log.forget("gone", "orders", 0)
    log.end("gone")
    log.group("shop", [member("m", ["orders"], {"orders": [0]})])
    return log


def of_consumers() -> tuple[Log, Group]:
    """Two members, a static one with a pattern, and a setting of the group's own; the log and the group that wrote it."""
    driver = two_members_sharing_orders()
    change = requests.ConfigChange("consumer.session.timeout.ms", 0, "50000")
    driver.send(requests.AlterConfigs("g", (change,), False), 1)
    driver.consumers.join("m3", topic_regex="bil.*", instance_id="i")
    driver.consumers.beat("m1", {ORD: [0, 1, 2]})
    log = Log(batch_id=7)
    for record in driver.log:
        log.record("of-consumers", record, driver.group.topics)
    return log, driver.group


def loaded(spark: SparkSession, job: JobSettings) -> dict[str, Group]:
    rows = spark.read.parquet(coordinator_folder(spark, job).address(GROUPS)).collect()
    seeds = {row["group_id"]: seed_of([bytes(row["event"])]) for row in rows}
    return {name: snapshots.load(name, blob) for name, blob in seeds.items() if blob}


def test_groups_offsets_and_batches_come_from_the_tables(
    spark: SparkSession, job: JobSettings
) -> None:
    write(job, some_groups())
    write(job, Log(batch_id=3), cluster_id="another")
    letter = spark.range(1).selectExpr(*(f"{value} AS {key}" for key, value in DEAD_LETTER.items()))
    letter.write.format("delta").mode("append").save(f"{job.tables_root}/dead_letters")

    rebuilt = rebuild(spark, job, TOPIC_HOLDS)

    origin = Origin(10, {0: 6, 1: 19}, groups=2)
    assert rebuilt == Rebuilt(origin, {0: 5, 1: 18})
    assert read_origin(coordinator_folder(spark, job)) == origin
    groups = loaded(spark, job)
    assert set(groups) == {"simple", "shop"}
    assert groups["simple"].offsets["orders"][0].offset == 42
    shop = groups["shop"].membership
    assert isinstance(shop, ClassicGroup)
    assert (shop.state, shop.generation, list(shop.members)) == ("Stable", 1, ["m"])


def test_a_consumer_group_is_as_its_log_says(spark: SparkSession, job: JobSettings) -> None:
    log, before = of_consumers()
    write(job, log)

    assert rebuild(spark, job, TOPIC_HOLDS).origin.groups == 1

    group = loaded(spark, job)["of-consumers"]
    was, now = before.consumer, group.consumer
    assert was is not None
    assert now is not None
    assert (now.epoch, now.assignment_epoch, now.metadata_hash) == (4, 4, was.metadata_hash)
    assert (now.members, now.targets, now.regexes) == (was.members, was.targets, was.regexes)
    assert (group.configs, group.topics) == (before.configs, None)


def test_a_rebuild_reads_the_snapshot_and_the_log_behind_it(
    spark: SparkSession, job: JobSettings
) -> None:
    """The rows that are in the snapshot are taken away, so that nothing can read them."""
    write(job, some_groups(batch_id=7))
    later = Log(batch_id=8, now_ms=60_000)
    later.commit("simple", "orders", 1, 5)
    later.commit("new", "orders", 0, 9)
    write(job, later)
    write(job, Log(batch_id=3), cluster_id="another")
    assert newest_snapshot(spark, job) == Snapshot()

    taken = take_snapshot(spark, job)

    assert (taken.batch_id, taken.handled) == (7, {0: 5})
    assert newest_snapshot(spark, job) == taken == take_snapshot(spark, job)
    log_table(job).delete("batch_id = 7")
    assert rebuild(spark, job, TOPIC_HOLDS) == Rebuilt(Origin(9, {0: 6, 1: 5}, groups=3), {0: 5})
    groups = loaded(spark, job)
    offsets = {name: group.offsets for name, group in groups.items() if name != "shop"}
    assert {
        name: {p: o.offset for p, o in of["orders"].items()} for name, of in offsets.items()
    } == {
        "simple": {0: 42, 1: 5},
        "new": {0: 9},
    }
    assert set(groups) == {"simple", "new", "shop"}


def test_groups_that_are_not_whole_any_more_are_told_before_the_first_batch(
    spark: SparkSession, job: JobSettings
) -> None:
    write(job, some_groups())
    origin = rebuild(spark, job, TOPIC_HOLDS).origin
    folder = coordinator_folder(spark, job)
    check_seeds(spark, folder, origin)
    files = list(Path(folder.address(GROUPS)).glob("*.parquet"))
    faults = []

    for content in (b"PAR1 and no end", b""):
        for file in files:
            file.write_bytes(content)
        with pytest.raises(DamagedFileError) as refused:
            check_seeds(spark, folder, origin)
        faults.append(str(refused.value))

    unreadable, empty = faults
    assert unreadable.startswith(
        f"{folder.address(GROUPS)} is damaged ([FAILED_READ_FILE.NO_HINT] Encountered error while reading file "
    )
    assert empty == (
        f"{folder.address(GROUPS)} is damaged (it has 0 groups, and the rebuild wrote 2): restore a copy of "
        "it, or move the checkpoint away and start again: the start then names the next step"
    )
    check_seeds(spark, folder, replace(origin, groups=None))
    folder.write("commits/0", "v1")
    check_seeds(spark, folder, origin)


def test_each_snapshot_is_made_of_the_one_before(spark: SparkSession, job: JobSettings) -> None:
    write(job, some_groups(batch_id=7))
    write(job, some_groups(batch_id=8), cluster_id="another")
    for batch_id in (8, 9):
        log = Log(batch_id=batch_id, now_ms=60_000)
        log.commit("simple", "orders", batch_id, 5)
        log.end("shop")
        write(job, log)
        take_snapshot(spark, job)
        log_table(job).delete(f"cluster_id = 'test' AND batch_id < {batch_id}")

    rows = TableCatalog(job.tables_root).read(spark, "snapshots").collect()
    assert {(row.cluster_id, row.group_id, row.batch_id) for row in rows} == {
        ("test", None, 8),
        ("test", "simple", 8),
    }
    rebuild(spark, job, TOPIC_HOLDS)
    simple = loaded(spark, job)["simple"]
    assert {p: offset.offset for p, offset in simple.offsets["orders"].items()} == {
        0: 42,
        8: 5,
        9: 5,
    }


def test_a_snapshot_is_due_an_interval_after_the_first_claim_and_after_each_snapshot(
    spark: SparkSession, job: JobSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    hourly = replace(job, snapshot_interval_ms=3_600_000)
    checked_writer(spark, hourly, lambda: None)
    write(job, some_groups(batch_id=7))
    write(job, some_groups(batch_id=8))
    now_s = time.time()
    taken = []
    for minutes in (0, 59, 61, 119, 122):
        monkeypatch.setattr(
            snapshot_time.time, "time_ns", lambda at=minutes: int((now_s + at * 60) * 1e9)
        )
        write(job, some_groups(batch_id=9 + minutes))
        SnapshotTime(spark, hourly).look()
        taken.append(newest_snapshot(spark, job).batch_id)

    assert taken == [-1, -1, 69, 69, 130]


def test_a_snapshot_that_is_taken_meanwhile_loses_no_group(
    spark: SparkSession, job: JobSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compaction of its own goes on while a checkpoint is rebuilt."""
    for batch_id in (7, 8):
        write(job, some_groups(batch_id))
    take_snapshot(spark, job)
    write(job, Log(batch_id=9))
    later = Log(batch_id=10)
    later.commit("new", "orders", 0, 1)
    write(job, later)
    usual, taken = rebuild_module.progress_after, []

    def progress_after(*given: Any) -> Any:
        found = usual(*given)
        if len(taken) < 3:
            taken.append(take_snapshot(spark, job))
        return found

    monkeypatch.setattr(rebuild_module, "progress_after", progress_after)

    assert rebuild(spark, job, TOPIC_HOLDS).origin.groups == 3
    assert set(loaded(spark, job)) == {"simple", "shop", "new"}


def test_a_snapshot_is_of_the_topic_that_the_clusters_owner_reads(
    spark: SparkSession, job: JobSettings
) -> None:
    """A compaction of its own may have another one in its settings."""
    checked_writer(spark, job, lambda: None)
    for batch_id in (7, 8):
        write(job, some_groups(batch_id))

    taken = take_snapshot(spark, replace(job, events_topic="not-mine"))

    assert newest_snapshot(spark, job) == taken == Snapshot(7, taken.taken_ms, {0: 5})


def test_another_topics_snapshot_says_nothing_of_this_ones_events(
    spark: SparkSession, job: JobSettings
) -> None:
    write(job, some_groups(batch_id=7))
    write(job, some_groups(batch_id=8))
    take_snapshot(spark, job)

    moved = replace(job, events_topic="group-events-2")
    assert newest_snapshot(spark, moved) == Snapshot()


def test_another_clusters_log_is_not_ours(spark: SparkSession, job: JobSettings) -> None:
    write(job, some_groups(), cluster_id="another")

    checked_writer(spark, job, lambda: None)
    with pytest.raises(CheckpointError, match=r"has no rows of cluster\.id = test"):
        rebuild(spark, job, TOPIC_HOLDS)


def test_a_rebuild_may_be_repeated_until_the_job_has_begun(
    spark: SparkSession, job: JobSettings
) -> None:
    write(job, some_groups())
    folder = coordinator_folder(spark, job)

    with pytest.raises(CheckpointError, match="run `group-coordinator rebuild` with the same"):
        checked_writer(spark, job, lambda: None)
    assert rebuild(spark, job, TOPIC_HOLDS) == rebuild(spark, job, TOPIC_HOLDS)
    checked_writer(spark, job, lambda: None)

    Path(folder.address("offsets")).mkdir()
    checked_writer(spark, job, lambda: None)
    with pytest.raises(CheckpointError, match="is a checkpoint: nothing is rebuilt"):
        rebuild(spark, job, TOPIC_HOLDS)


def test_groups_are_offered_until_the_first_batch_is_not_the_last(
    spark: SparkSession, job: JobSettings
) -> None:
    write(job, some_groups())
    rebuild(spark, job, TOPIC_HOLDS)
    folder = coordinator_folder(spark, job)

    assert folder_of_groups(folder) == folder.address(GROUPS)
    Path(folder.address("commits")).mkdir()
    assert folder_of_groups(folder) == folder.address(GROUPS)
    Path(folder.address("commits/0")).touch()
    assert folder_of_groups(folder) == folder.address(GROUPS)
    Path(folder.address("commits/1")).touch()
    left = folder_of_groups(folder)
    assert left != folder.address(GROUPS)
    assert spark.read.schema(PACKED).parquet(left).isEmpty()


def test_a_mirrored_cluster_has_no_checkpoint_to_rebuild_and_no_snapshot(
    spark: SparkSession, job: JobSettings
) -> None:
    frame = some_groups().frame(spark).withColumn("reason", F.lit("mirrored"))
    table = TableCatalog(job.tables_root).location("coordinator_log")
    frame.write.format("delta").mode("append").save(table)

    assert take_snapshot(spark, job) == Snapshot()
    with pytest.raises(CheckpointError, match="that were mirrored from another coord"):
        rebuild(spark, job, TOPIC_HOLDS)
