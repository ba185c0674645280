"""Delta tables that a catalog manages: as their log says it, and as Delta itself keeps them with a catalog of its own tests."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.definition import TableDefinition
from group_coordinator.tables.state_tables import GROUPS

FEATURE = "catalogManaged"
_COMMITS_BEFORE_BACKFILL = 1
_COORDINATORS = "org.apache.spark.sql.delta.coordinatedcommits"


def hand_to_a_catalog(folder: Path, feature: str = FEATURE) -> None:
    """Commit what Delta 4.4.0 has in the log of such a table; Delta itself takes no table that is there already."""
    log = folder / "_delta_log"
    metadata = next(action for action in _actions(log / f"{0:020}.json") if "metaData" in action)
    metadata["metaData"]["configuration"]["delta.enableInCommitTimestamps"] = "true"
    written = {"timestamp": 1, "inCommitTimestamp": 1, "operation": "UPGRADE PROTOCOL"}
    protocol = {
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "readerFeatures": ["vacuumProtocolCheck", feature],
        "writerFeatures": ["vacuumProtocolCheck", feature, "inCommitTimestamp", "appendOnly"],
    }
    commit = [{"commitInfo": written}, metadata, {"protocol": protocol}]
    version = len(list(log.glob("*.json")))
    (log / f"{version:020}.json").write_text("\n".join(map(json.dumps, commit)))


def _actions(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


@contextmanager
def catalog_managed(
    spark: SparkSession, folder: Path, tables: Sequence[TableDefinition]
) -> Iterator[TableCatalog]:
    """The tables, empty, in a schema of Spark's catalog that keeps their commits in memory.

    Without Unity Catalog Delta makes such tables by a writer alone, which knows no names; so the names are there first.
    """
    jvm: Any = spark._jvm  # noqa: SLF001
    classes = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    provider_class = f"{_COORDINATORS}.CatalogOwnedCommitCoordinatorProvider$"
    provider = jvm.java.lang.Class.forName(provider_class, True, classes)
    provider = provider.getField("MODULE$").get(None)
    builder = getattr(jvm, f"{_COORDINATORS}.InMemoryCommitCoordinatorBuilder")
    catalog = TableCatalog("spark_catalog.managed")
    provider.registerBuilder("spark_catalog", builder(_COMMITS_BEFORE_BACKFILL))
    spark.sql(f"CREATE SCHEMA {catalog.schema_name}")
    try:
        for table in tables:
            place = folder / table.name
            table.create_on_disk(place)
            spark.sql(f"CREATE TABLE {catalog.location(table.name)} USING delta LOCATION '{place}'")
            shutil.rmtree(place)
            jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
            writer = spark.createDataFrame([], table.schema).write.format("delta")
            writer = writer.partitionBy(*table.partitioned_by)
            writer.option(f"delta.feature.{FEATURE}", "supported").save(str(place))
        yield catalog
    finally:
        spark.sql(f"DROP SCHEMA {catalog.schema_name} CASCADE")
        provider.clearBuilders()


def row_of_groups(cluster: str, group: str) -> pa.Table:
    row = {"group_type": "classic", "state": "Empty", "generation_or_epoch": 0, "member_count": 0}
    row |= {
        "offset_count": 1,
        "updated_at": 0,
        "batch_id": 0,
        "expiration_base": "commit",
        "protocol_type": "consumer",
    }
    given = {**row, "protected_topics": [], "cluster_id": cluster, "group_id": group}
    return pa.Table.from_pylist([given], GROUPS.no_rows().schema)
