"""Checks that the job may write its tables and its checkpoint. Rights at the brokers are in program_rights.py."""

from __future__ import annotations

from secrets import token_hex

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from group_coordinator.job.refusals import JobRefusedError
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.creation import TABLES


def check_tables_take_files(spark: SparkSession, root: str) -> None:
    """Refuse a root with a table whose folder takes no files. Nothing stays there.

    Raises:
        JobRefusedError: the message names the folder.
    """
    catalog = TableCatalog(root)
    for table in TABLES:
        if catalog.exists(spark, table.name):
            folder = CheckpointFolder(spark, catalog.location(table.name))
            check_takes_files(folder, f"tables.root = {root}: {folder.location}")


def check_catalog_takes_appends(spark: SparkSession, root: str) -> None:
    """Append no rows to each table: a catalog looks at our rights first. Delta commits nothing then, and writes no file.

    Raises:
        PySparkException: the catalog says what is missing.
    """
    catalog = TableCatalog(root)
    for table in TABLES:
        if catalog.exists(spark, table.name):
            nothing = spark.createDataFrame([], table.schema)
            catalog.save(nothing.write.format("delta").mode("append"), table.name)


def check_takes_files(folder: CheckpointFolder, named: str) -> None:
    """Refuse a folder in which no file can be made, or none taken away.

    Raises:
        JobRefusedError: the message begins with what the folder is called.
    """
    probe = f".probe-{token_hex(8)}"
    try:
        folder.write(probe, "")
        folder.remove(probe)
    except Py4JJavaError as error:
        raise JobRefusedError(f"{named} cannot be written: {error.java_exception}") from error
