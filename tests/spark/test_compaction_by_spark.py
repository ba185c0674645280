"""Tables that are not on a local disk: what compaction reads of them, what it outlives, and their upkeep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from chispa import assert_df_equality
from deltalake import DeltaTable, Transaction, write_deltalake
from pyspark.sql import SparkSession

from group_coordinator.settings import Settings
from group_coordinator.tables.append import append_few
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.compaction import compaction
from group_coordinator.tables.compaction import spark as spark_compaction
from group_coordinator.tables.compaction.compaction import Compaction
from group_coordinator.tables.compaction.rows import Retention
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.creation import COMPACTED
from group_coordinator.tables.maintenance import Maintenance, Notebook
from group_coordinator.tables.maintenance_work import MaintenanceNote
from group_coordinator.tables.state_tables import GROUPS, MEMBERS, OFFSETS
from group_coordinator.tables.topic_ids import TOPIC_IDS, topic_id_rows
from tests.support.catalog_managed import catalog_managed, row_of_groups
from tests.support.log_rows import Log
from tests.support.mirrored_log import table_rows
from tests.unit.tables.compaction.test_share_fold import ORDERS
from tests.unit.tables.compaction.test_share_fold import joined as share_group

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("compiled")]

NOON = 1_764_000_000_000
RETENTION = Retention(retention_ms=60_000, check_interval_ms=10_000)
NAMES = [("eu-1", "orders"), ("us-1", "another cluster's")]


@pytest.fixture
def elsewhere(tmp_path: Path) -> TableCatalog:
    """Tables that compaction writes by Spark, as in an object store."""
    catalog = TableCatalog(f"file:{tmp_path}/elsewhere")
    for table in (*COMPACTED, TOPIC_IDS):
        table.create_on_disk(tmp_path / "elsewhere" / table.name)
    return catalog


def commits(cluster_id: str, batch_id: int, *groups: str) -> Log:
    """Each of the groups commits the batch's number."""
    log = Log(batch_id, now_ms=batch_id * 60_000, cluster_id=cluster_id)
    for group in groups:
        log.commit(group, "orders", 0, batch_id)
    return log


def filled(catalog: TableCatalog, batch_id: int, *groups: str) -> None:
    """What an earlier compaction has left, in files of its own; not by Spark, which takes longer."""
    root, entries = Path(catalog.root.removeprefix("file:")), commits("test", batch_id, *groups)
    compaction.compact(
        TableCatalog(str(root)),
        "test",
        entries.entries(),
        RETENTION,
        Transaction("earlier", batch_id),
    )


def take(spark: SparkSession, catalog: TableCatalog, batch_id: int, *groups: str) -> None:
    """A stretch of the log with commits, beside those of another cluster."""
    ours, others = (commits(cluster, batch_id, *groups) for cluster in ("test", "other"))
    stretch = ours.frame(spark).union(others.frame(spark))
    Compaction(catalog, "test", RETENTION, "query").apply(stretch, batch_id)


def has_offsets(spark: SparkSession, catalog: TableCatalog, **expected: int) -> None:
    found = catalog.read(spark, "offsets").select("cluster_id", "group_id", "committed_offset")
    wanted = [("test", group, offset) for group, offset in expected.items()]
    assert_df_equality(found, spark.createDataFrame(wanted, found.schema), ignore_row_order=True)


def files_without(folder: Path, group: str) -> Iterator[Path]:
    for file in DeltaTable(folder).get_add_actions(flatten=True).to_struct_array().to_pylist():
        if not file["min.group_id"] <= group <= file["max.group_id"]:
            yield folder / file["path"]


def test_only_files_of_the_touched_groups_are_read_and_written(
    spark: SparkSession, elsewhere: TableCatalog, tmp_path: Path
) -> None:
    filled(elsewhere, 1, "berlin")
    filled(elsewhere, 2, "oslo")
    hidden = [
        file
        for table in (GROUPS, OFFSETS)
        for file in files_without(tmp_path / "elsewhere" / table.name, "oslo")
    ]
    assert len(hidden) == 2
    for file in hidden:
        file.rename(f"{file}.hidden")

    take(spark, elsewhere, 3, "oslo")

    for file in hidden:
        Path(f"{file}.hidden").rename(file)
    has_offsets(spark, elsewhere, berlin=1, oslo=3)
    (merge,) = elsewhere.writable(spark, OFFSETS.name).history(1).collect()
    assert merge["operationMetrics"]["numTargetFilesRemoved"] == "1"


def test_a_first_load_of_many_groups_needs_no_merge(
    spark: SparkSession, elsewhere: TableCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_compaction, "_MOST_GROUPS", 1)
    filled_other = commits("other", 1, "berlin").entries()
    root = elsewhere.root.removeprefix("file:")
    earlier = Transaction("earlier", 1)
    compaction.compact(TableCatalog(root), "other", filled_other, RETENTION, earlier)

    for batch_id in (2, 2, 3):
        take(spark, elsewhere, batch_id, "berlin", "oslo")

    found = elsewhere.read(spark, "offsets").select("cluster_id", "group_id", "committed_offset")
    wanted = [("other", "berlin", 1), ("test", "berlin", 3), ("test", "oslo", 3)]
    assert_df_equality(found, spark.createDataFrame(wanted, found.schema), ignore_row_order=True)
    history = elsewhere.writable(spark, OFFSETS.name).history().select("operation").collect()
    assert [row.operation for row in history] == ["MERGE", "WRITE", "MERGE", "CREATE TABLE"]


def test_what_an_executor_took_along_is_computed_again(
    spark: SparkSession, elsewhere: TableCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before every MERGE the executors with the changes are gone, and the tables are not what they were before."""
    filled(elsewhere, 1, "berlin", "oslo")
    merge, merged = spark_compaction._merge, []  # noqa: SLF001

    def after_a_loss(*arguments: Any) -> None:
        (number,) = changes(spark)
        context: Any = spark.sparkContext
        executors = context._jvm.org.apache.spark.SparkEnv.get().blockManager().master()  # noqa: SLF001
        executors.removeRdd(number, True)
        merged.append(arguments[1].name)
        merge(*arguments)

    monkeypatch.setattr(spark_compaction, "_merge", after_a_loss)
    take(spark, elsewhere, 2, "oslo", "rome")

    assert merged == ["offsets", "groups"]
    has_offsets(spark, elsewhere, berlin=1, oslo=2, rome=2)
    rows = elsewhere.read(spark, "groups").select("group_id", "offset_count", "batch_id")
    wanted = [("berlin", 1, 1), ("oslo", 1, 2), ("rome", 1, 2)]
    assert_df_equality(rows, spark.createDataFrame(wanted, rows.schema), ignore_row_order=True)
    assert changes(spark) == []


def changes(spark: SparkSession) -> list[int]:
    """What Spark keeps of the changes, by number."""
    context: Any = spark.sparkContext
    kept = context._jsc.getPersistentRDDs()  # noqa: SLF001
    return [number for number in kept if kept[number].name() == spark_compaction.CHANGES]


def test_files_are_put_together_and_sorted_cluster_by_cluster(
    spark: SparkSession, elsewhere: TableCatalog, configured: Settings
) -> None:
    folder = elsewhere.root.removeprefix("file:") + "/groups"
    for cluster, group in (("test", "b"), ("test", "a"), ("other", "a"), ("other", "b")):
        write_deltalake(folder, row_of_groups(cluster, group), mode="append")
    job = replace(configured.job, tables_root=elsewhere.root, cluster_id="test")
    pages: list[dict[str, MaintenanceNote]] = []
    notebook = Notebook(lambda: pages[-1] if pages else {}, pages.append)

    Maintenance(spark, job, [MEMBERS, GROUPS], notebook).look(NOON)
    Maintenance(spark, job, [MEMBERS, GROUPS], notebook).look(NOON + 1)

    present = Counter(Path(uri).parent.name for uri in DeltaTable(folder).file_uris())
    assert present == {"cluster_id=test": 1, "cluster_id=other": 2}
    operations = [commit["operation"] for commit in DeltaTable(folder).history(3)]
    assert operations == ["VACUUM END", "VACUUM START", "OPTIMIZE"]
    assert len(pages) == 2  # a note a table, also of the empty one


def test_what_a_catalog_manages_is_left_to_it_and_told_once(
    spark: SparkSession, configured: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pages: list[dict[str, MaintenanceNote]] = []
    notebook = Notebook(lambda: pages[-1] if pages else {}, pages.append)
    with catalog_managed(spark, tmp_path, [GROUPS]) as catalog:
        job = replace(configured.job, tables_root=catalog.root, cluster_id="test")
        job = replace(job, maintenance_interval_ms=3_600_000)
        maintenance = Maintenance(spark, job, [GROUPS], notebook)
        caplog.set_level("INFO", "group_coordinator")

        for hour in range(3):
            append_few(row_of_groups("test", "a"), spark, catalog, GROUPS)
            maintenance.look(NOON + hour * 3_600_000)

        ours = (each for each in caplog.records if each.name.startswith("group_coordinator"))
        told = [record.getMessage() for record in ours]
        commits = catalog.writable(spark, "groups").history().select("operation").collect()
    assert told == [
        "table `spark_catalog`.`managed`.`groups` is catalog-managed: OPTIMIZE, VACUUM and old commits are left to its catalog"
    ]
    assert [operation for (operation,) in commits] == ["WRITE"] * 4
    assert [page["groups"].at_ms for page in pages] == [
        NOON + hour * 3_600_000 for hour in range(3)
    ]


def test_a_mirrored_share_group_has_its_topics_names_from_the_table_of_ids(
    spark: SparkSession, elsewhere: TableCatalog
) -> None:
    ids = [topic_id_rows(cluster, {ORDERS: name}, NOON) for cluster, name in NAMES]
    write_deltalake(f"{elsewhere.root}/{TOPIC_IDS.name}", pa.concat_tables(ids), mode="append")
    log = spark.createDataFrame(table_rows(share_group()), COORDINATOR_LOG.schema)

    Compaction(elsewhere, "eu-1", RETENTION, "query").apply(log, 1)

    [row] = elsewhere.read(spark, MEMBERS.name).collect()
    assert (row.member_type, row.assigned_partitions) == ("share", [("orders", 0)])
