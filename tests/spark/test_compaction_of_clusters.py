"""Two coordinators share the tables: each one's compaction leaves the other's rows alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import deltalake
import pytest
from delta.exceptions import ConcurrentAppendException
from deltalake import write_deltalake
from deltalake.exceptions import CommitFailedError
from pyspark.sql import SparkSession

from group_coordinator.settings import Settings
from group_coordinator.streaming.checkpoint.ownership import CheckpointError
from group_coordinator.streaming.compaction_query import CompactionQuery
from group_coordinator.tables.append import append_frame
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.compaction import compaction
from group_coordinator.tables.compaction import spark as by_spark
from group_coordinator.tables.compaction.compaction import Compaction, entries_of
from group_coordinator.tables.compaction.rows import Retention
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.creation import COMPACTED, create_tables
from group_coordinator.tables.definition import TableDefinition
from tests.support.log_rows import Log
from tests.support.other_cluster import OtherCluster

pytestmark = pytest.mark.spark

RETENTION = Retention(retention_ms=60_000, check_interval_ms=10_000)


def of_cluster(configured: Settings, cluster_id: str) -> Settings:
    job = configured.job
    return replace(
        configured,
        job=replace(
            job,
            cluster_id=cluster_id,
            checkpoint_location=f"{job.checkpoint_location}-{cluster_id}",
        ),
    )


def append(catalog: TableCatalog, log: Log) -> None:
    write_deltalake(catalog.location("coordinator_log"), log.table(), mode="append")


def commits(cluster_id: str, batch_id: int, **offsets: int) -> Log:
    log = Log(batch_id, now_ms=batch_id * 1_000, cluster_id=cluster_id)
    for group, offset in offsets.items():
        log.commit(group, "orders", 0, offset)
    return log


def offsets(spark: SparkSession, catalog: TableCatalog) -> dict[tuple[str, str], int]:
    rows = catalog.read(spark, "offsets").select("cluster_id", "group_id", "committed_offset")
    return {(cluster, group): offset for cluster, group, offset in rows.collect()}


def test_one_that_is_far_behind_does_not_hold_the_other_back(
    spark: SparkSession, configured: Settings, catalog: TableCatalog
) -> None:
    east, west = (CompactionQuery(spark, of_cluster(configured, name)) for name in ("east", "west"))
    append(catalog, commits("east", 0, billing=1, audit=1))
    append(catalog, commits("west", 0, billing=100))
    east.drain()
    assert offsets(spark, catalog) == {("east", "billing"): 1, ("east", "audit"): 1}

    append(catalog, commits("east", 1, billing=2))
    append(catalog, commits("west", 1, billing=200))
    west.drain()
    assert offsets(spark, catalog) == {
        ("east", "billing"): 1,
        ("east", "audit"): 1,
        ("west", "billing"): 200,
    }

    east.drain()
    assert offsets(spark, catalog) == {
        ("east", "billing"): 2,
        ("east", "audit"): 1,
        ("west", "billing"): 200,
    }


def test_the_checkpoint_of_another_cluster_is_refused(
    spark: SparkSession, configured: Settings, catalog: TableCatalog
) -> None:
    append(catalog, commits("east", 0, billing=1))
    settings = of_cluster(configured, "east")
    CompactionQuery(spark, settings).drain()

    other = replace(settings, job=replace(settings.job, cluster_id="west"))
    with pytest.raises(CheckpointError) as refusal:
        CompactionQuery(spark, other).drain()

    assert str(refusal.value) == (
        f"checkpoint {settings.job.checkpoint_location}/compaction compacts the rows of cluster.id = east, not "
        "west: set that cluster.id, or another checkpoint.location"
    )


@pytest.fixture(params=["partitioned", "in the same files"])
def shared(
    request: pytest.FixtureRequest, configured: Settings, monkeypatch: pytest.MonkeyPatch
) -> TableCatalog:
    """Tables in which both clusters have rows of some age."""
    catalog = TableCatalog(configured.job.tables_root)
    with monkeypatch.context() as patched:
        if request.param != "partitioned":
            patched.setattr(TableDefinition, "partitioned_by", ())
        create_tables(catalog.root, _no_spark)
    return catalog


def _no_spark() -> SparkSession:
    raise AssertionError


def test_two_at_once_do_not_lose_each_others_rows(
    spark: SparkSession, shared: TableCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """West commits its MERGE while east is at its own: where they share files, east has to work it out again."""
    root = shared.local_root
    assert root is not None

    def west(batch_id: int, offset: int) -> None:
        entries = commits("west", batch_id, billing=offset).entries()
        once = deltalake.Transaction("west", batch_id)
        compaction.compact(TableCatalog(str(root)), "west", entries, RETENTION, once)

    east = Compaction(shared, "east", RETENTION, "east")
    east.apply(commits("east", 0, billing=1).frame(spark), 0)
    west(0, 100)
    for table in COMPACTED:
        deltalake.DeltaTable(root / table.name).optimize.compact()
    opened: list[Path] = []

    def overtaken(folder: Path) -> Any:
        table = deltalake.DeltaTable(folder)
        opened.append(folder)
        if len(opened) == len(COMPACTED) + 1:  # east has read all tables, and begins to write
            west(1, 200)
        return table

    monkeypatch.setattr(compaction, "DeltaTable", overtaken)
    east.apply(commits("east", 1, billing=2).frame(spark), 1)

    assert offsets(spark, shared) == {("east", "billing"): 2, ("west", "billing"): 200}


def test_what_a_commit_of_another_process_undoes_is_worked_out_again(
    spark: SparkSession, catalog: TableCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    conflicts = [ConcurrentAppendException("files were added"), CommitFailedError("a conflict")]
    compact = compaction.compact

    def overtaken(*given: Any) -> None:
        if conflicts:
            raise conflicts.pop()
        compact(*given)

    monkeypatch.setattr(compaction, "compact", overtaken)
    Compaction(catalog, "east", RETENTION, "east").apply(
        commits("east", 0, billing=1).frame(spark), 0
    )

    assert offsets(spark, catalog) == {("east", "billing"): 1}


def test_two_clusters_write_the_same_tables_at_once(
    spark: SparkSession, catalog: TableCatalog
) -> None:
    """East by Spark, which is slow, and west in another process, which commits to all tables meanwhile.

    A commit of west that comes between the beginning and the end of one of Spark's may be replaced by it.
    """
    root = catalog.local_root
    assert root is not None
    west = OtherCluster(root)
    try:
        log = commits("east", 0, **{f"group-{number}": number for number in range(10)})
        west.until_it_writes()
        once = deltalake.Transaction("east", 0)
        append_frame(log.frame(spark), catalog, COORDINATOR_LOG, once)
        by_spark.compact(catalog, "east", entries_of(log.frame(spark)), RETENTION, once)
        batches = west.end()
    finally:
        west.kill()

    rows = deltalake.DeltaTable(root / "coordinator_log").to_pyarrow_table()
    west_has = [row["batch_id"] for row in rows.to_pylist() if row["cluster_id"] == "west"]
    assert sorted(west_has) == list(range(batches))
    assert rows.num_rows == batches + 10
    assert offsets(spark, catalog) == {
        ("west", "billing"): batches - 1,
        **{("east", f"group-{number}"): number for number in range(10)},
    }
    alone = {name: came_between(root / name) for name in ("coordinator_log", "offsets", "groups")}
    assert alone == {"coordinator_log": [0], "offsets": [0], "groups": [0]}


def came_between(folder: Path) -> list[int]:
    """How many commits of others the table took from the beginning of each of Spark's to its end."""
    return [
        commit["version"] - commit["readVersion"] - 1
        for commit in deltalake.DeltaTable(folder).history()
        if "Spark" in commit.get("engineInfo", "")
    ]
