"""Tables on this machine's disk, which are made and looked at without Spark."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from shutil import rmtree

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from group_coordinator.tables import creation
from group_coordinator.tables.creation import (
    TABLES,
    MissingTablesError,
    check_tables,
    create_tables,
    upgrade_tables,
)
from group_coordinator.tables.failed_events import DENIALS
from group_coordinator.tables.storage_errors import StorageError
from tests.support.catalog_managed import hand_to_a_catalog

LATER_COLUMNS = {"records", "has_user_data"}
"""Columns that a made-up earlier version did not have."""


class NoSpark(SparkSession):
    """Whatever it is asked for, it has not."""

    def __init__(self) -> None:
        """Start nothing."""


def no_session() -> SparkSession:
    raise AssertionError


def test_tables_that_are_there_stay_as_they_are(tmp_path: Path) -> None:
    root = str(tmp_path)
    create_tables(root, no_session)

    create_tables(root, no_session)
    check_tables(NoSpark(), root)
    upgrade_tables(NoSpark(), root)

    assert [DeltaTable(tmp_path / table.name).version() for table in TABLES] == [0] * len(TABLES)


def test_columns_that_came_later_are_added_once(tmp_path: Path) -> None:
    for table in TABLES:
        fields = [column for column in table.schema if column.name not in LATER_COLUMNS]
        replace(table, schema=StructType(fields)).create_on_disk(tmp_path / table.name)

    upgrade_tables(NoSpark(), str(tmp_path))
    upgrade_tables(NoSpark(), str(tmp_path))

    for table in TABLES:
        made = json.loads(DeltaTable(tmp_path / table.name).schema().to_json())
        assert made == json.loads(table.schema.json())
    assert DeltaTable(tmp_path / "groups").version() == 1


def test_a_table_that_came_later_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create_tables(str(tmp_path), no_session)
    rmtree(tmp_path / DENIALS.name)
    with pytest.raises(MissingTablesError, match="denials missing"):
        check_tables(NoSpark(), str(tmp_path))
    monkeypatch.setattr(creation, "_LATER_TABLES", (DENIALS,))

    check_tables(NoSpark(), str(tmp_path))
    upgrade_tables(NoSpark(), str(tmp_path))

    assert DeltaTable(tmp_path / DENIALS.name).version() == 0


def test_missing_tables_are_named(tmp_path: Path) -> None:
    with pytest.raises(MissingTablesError, match=r"coordinator_log, .* `group-coordinator init`"):
        check_tables(NoSpark(), str(tmp_path))


def test_tables_that_a_catalog_manages_are_named_at_the_start(tmp_path: Path) -> None:
    create_tables(str(tmp_path), no_session)
    hand_to_a_catalog(tmp_path / "coordinator_log")
    said = f"^tables.root = {tmp_path}: {tmp_path}/coordinator_log is a catalog-managed Delta table, which only Spark opens"

    with pytest.raises(StorageError, match=said):
        check_tables(NoSpark(), str(tmp_path))
    with pytest.raises(StorageError, match=said):
        create_tables(str(tmp_path), no_session)
