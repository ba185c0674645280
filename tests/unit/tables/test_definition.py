from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from deltalake import DeltaTable, Transaction
from pyspark.sql.types import StructField, StructType

from group_coordinator.tables.append import append_on_disk
from group_coordinator.tables.claims import WRITERS
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.samples import TOPIC_POSITIONS
from group_coordinator.tables.state_tables import GROUPS


def test_only_tables_whose_rows_change_or_go_are_partitioned_and_those_of_groups_sorted() -> None:
    assert (GROUPS.partitioned_by, GROUPS.sorted_by) == (("cluster_id",), ("group_id",))
    assert (COORDINATOR_LOG.partitioned_by, COORDINATOR_LOG.sorted_by) == ((), ())
    assert (TOPIC_POSITIONS.partitioned_by, TOPIC_POSITIONS.sorted_by) == (("cluster_id",), ())


def test_a_table_with_the_comments_of_an_earlier_version_takes_rows(tmp_path: Path) -> None:
    columns = [
        StructField(column.name, column.dataType, column.nullable, {"comment": "as it was called"})
        for column in WRITERS.schema
    ]
    replace(WRITERS, schema=StructType(columns)).create_on_disk(tmp_path)

    append_on_disk(DeltaTable(tmp_path), tmp_path, WRITERS.no_rows(), Transaction("test", 1))

    assert DeltaTable(tmp_path).version() == 1
