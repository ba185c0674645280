"""What Spark's Hadoop says of storage that a job cannot use; no object store is needed for that."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from group_coordinator.driver.coordinator import prepare_tables
from group_coordinator.driver.errors import StartUpError
from group_coordinator.driver.tables import ask_tables, create_tables_of
from group_coordinator.settings import Settings
from group_coordinator.tables.creation import create_tables
from group_coordinator.tables.storage_errors import StorageError

pytestmark = pytest.mark.spark

S3A = (
    "ClassNotFoundException: Class org.apache.hadoop.fs.s3a.S3AFileSystem not found: give spark-submit the package "
    "org.apache.hadoop:hadoop-aws in Spark's Hadoop version"
)
REFUSALS = {
    "s3a://bucket/tables": S3A,
    "s3://bucket/tables": 'UnsupportedFileSystemException: No FileSystem for scheme "s3": write s3a://',
    "gs://bucket/tables": (
        "ClassNotFoundException: Class org.apache.hadoop.fs.gs.GoogleHadoopFileSystem not found: give spark-submit the "
        "package org.apache.hadoop:hadoop-gcp in Spark's Hadoop version"
    ),
    "abfss://c@a.dfs.core.windows.net/tables": (
        "ClassNotFoundException: Class org.apache.hadoop.fs.azurebfs.SecureAzureBlobFileSystem not found: give "
        "spark-submit the package org.apache.hadoop:hadoop-azure in Spark's Hadoop version"
    ),
    "floppy://a/tables": (
        'UnsupportedFileSystemException: No FileSystem for scheme "floppy": give a scheme that Spark\'s Hadoop has, or its '
        "package"
    ),
}


@pytest.mark.parametrize("root", REFUSALS)
def test_tables_where_spark_has_no_file_system(
    spark: SparkSession, configured: Settings, root: str
) -> None:
    there = replace(configured, job=replace(configured.job, tables_root=root))

    with pytest.raises(StartUpError) as in_creation:
        create_tables_of(there.job, lambda: spark)
    with pytest.raises(StartUpError) as in_query:
        ask_tables(there, lambda: spark, "SELECT 1 FROM groups", None)

    assert str(in_creation.value) == f"tables.root = {root}: {REFUSALS[root]}"
    assert str(in_query.value) == f"tables.root = {root}: {REFUSALS[root]}"


def test_tables_below_a_file(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(StorageError) as by_spark:
        create_tables(f"file:{tmp_path}/file/tables", lambda: spark)
    with pytest.raises(StorageError) as by_deltalake:
        create_tables(f"{tmp_path}/file/tables", lambda: spark)

    assert str(by_spark.value) == (
        f"tables.root = file:{tmp_path}/file/tables: ParentNotDirectoryException: Parent path is not a directory: "
        f"file:{tmp_path}/file"
    )
    assert str(by_deltalake.value) == (
        f"tables.root = {tmp_path}/file/tables: Could not create local directory: {tmp_path}/file/tables/coordinator_log "
        'Error: Os { code: 20, kind: NotADirectory, message: "Not a directory" }'
    )


def test_a_checkpoint_that_cannot_be_reached_or_written(
    spark: SparkSession, configured: Settings, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    create_tables(configured.job.tables_root, lambda: spark)
    below_a_file = f"{tmp_path}/file/checkpoint"

    with pytest.raises(StorageError) as unreachable:
        prepare_tables(
            spark, replace(configured.job, checkpoint_location="s3a://bucket/checkpoint")
        )
    with pytest.raises(StartUpError) as unwritable:
        prepare_tables(spark, replace(configured.job, checkpoint_location=below_a_file))

    assert str(unreachable.value) == f"checkpoint.location = s3a://bucket/checkpoint: {S3A}"
    assert str(unwritable.value).startswith(
        f"checkpoint.location = {below_a_file} cannot be written: "
    )
