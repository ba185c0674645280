from __future__ import annotations

from pathlib import Path

import pytest
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import SparkSession

from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.compaction.arrow_rows import to_arrow
from group_coordinator.tables.compaction.classic_rows import classic_group_row
from group_coordinator.tables.groups import GROUPS
from group_coordinator.tables.maintenance import Maintenance

pytestmark = pytest.mark.spark

# It is the turn of groups in every fourth batch.
BEFORE_ITS_TURN, PUTS_FILES_TOGETHER, REMOVES_FILES = 398, 399, 999


@pytest.fixture
def folder(catalog: TableCatalog) -> Path:
    """The table groups, in three files."""
    found = catalog.local_folder(GROUPS.name)
    assert found is not None
    for number in range(3):
        row = classic_group_row(
            ClassicGroup(),
            None,
            {"offset_count": 1, "next_expiration": None},
            {
                "cluster_id": "local",
                "group_id": f"g{number}",
                "updated_at": 1_000,
                "batch_id": number,
            },
        )
        write_deltalake(found, to_arrow([row], GROUPS.schema), mode="append")
    return found


def files(folder: Path) -> tuple[int, int]:
    """Those that the table consists of, and those that are there."""
    return len(DeltaTable(folder).file_uris()), len(list(folder.glob("*.parquet")))


def test_small_files_become_one_and_what_nobody_reads_is_removed(
    spark: SparkSession, catalog: TableCatalog, folder: Path
) -> None:
    maintenance = Maintenance(catalog)

    maintenance.after(spark, BEFORE_ITS_TURN)
    assert files(folder) == (3, 3)
    maintenance.after(spark, PUTS_FILES_TOGETHER)
    assert files(folder) == (1, 4)
    maintenance.after(spark, REMOVES_FILES)
    assert files(folder) == (1, 4)  # somebody may be reading them

    DeltaTable(folder).alter.set_table_properties(
        {"delta.deletedFileRetentionDuration": "interval 0 hours"}
    )
    maintenance.after(spark, REMOVES_FILES)
    assert files(folder) == (1, 1)
    groups = DeltaTable(folder).to_pyarrow_table()["group_id"].to_pylist()
    assert sorted(groups) == ["g0", "g1", "g2"]
