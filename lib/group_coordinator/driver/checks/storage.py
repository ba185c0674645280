"""Checks of the storage before the first write: the locations, and the right to write there."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any
from urllib.parse import urlsplit

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from group_coordinator.driver.checks.workers import is_on_this_machine
from group_coordinator.driver.errors import StartUpError
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.streaming.cluster_options import DATABRICKS
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.claims import clusters
from group_coordinator.tables.creation import TABLES
from group_coordinator.tables.roots import URL, is_on_s3
from group_coordinator.tables.storage_errors import storage_named

# Tasks that look at a folder: usually more than one on every executor.
_PROBES = 32


def check_storage(spark: SparkSession, job: JobSettings) -> None:
    """Refuse stores on which one driver can overwrite another's files, and folders that driver and executors do not share.

    Raises:
        StartUpError: the message names the setting, the folder and the remedy.
        StorageError: it cannot be reached.
    """
    settings = {"tables.root": job.tables_root, "checkpoint.location": job.checkpoint_location}
    if TableCatalog(job.tables_root).is_schema:
        # A catalog has its own storage and its own checks.
        del settings["tables.root"]
    for name, location in settings.items():
        if is_on_s3(location) and DATABRICKS not in os.environ:
            _check_one_writes(spark, name, location)
    # Driver and executors share the disk here; otherwise a path without a scheme is a disk of each.
    if is_on_this_machine(spark):
        return
    for name, location in settings.items():
        folder = _on_a_disk(location)
        if folder is not None:
            _check_default_file_system(spark, name, location)
            _check_shared(spark, name, folder)


def check_checkpoint(spark: SparkSession, job: JobSettings) -> None:
    """Refuse a location that is unreachable or read-only, with StartUpError or StorageError. Only the folder stays there."""
    with storage_named("checkpoint.location", job.checkpoint_location):
        folder = CheckpointFolder(spark, job.checkpoint_location)
    check_takes_files(folder, f"checkpoint.location = {job.checkpoint_location}")


def check_other_clusters(spark: SparkSession, job: JobSettings) -> None:
    """Refuse tables by a file: URL that another cluster's coordinator writes too. Raises StartUpError."""
    # The two could replace each other's commits. On a path without a scheme a lock prevents that (tables/catalog.py).
    if urlsplit(job.tables_root).scheme != "file":
        return
    others = clusters(spark, TableCatalog(job.tables_root)) - {job.cluster_id}
    if others:
        raise StartUpError(
            f"tables.root = {job.tables_root} also has rows of cluster.id = {min(others)}, and with a file: URL "
            "two drivers that write a Delta table lose each other's commits: set another tables.root, or write it "
            "as a path, without file:"
        )


def _check_one_writes(spark: SparkSession, name: str, location: str) -> None:
    probe = f".probe-{token_hex(8)}"
    with storage_named(name, location):
        folder = CheckpointFolder(spark, location)
        # Of two writers of one file the second must fail: the fence of batches and Delta's commits rely on it.
        is_kept = folder.write_new(probe, "") and not folder.write_new(probe, "")
        folder.remove(probe)
    if not is_kept:
        raise StartUpError(
            f"{name} = {location}: this store replaces existing files at a PUT with If-None-Match: *, so two "
            "drivers would overwrite each other's batches: use a store with conditional PUTs"
        )


def _on_a_disk(location: str) -> Path | None:
    if not URL.match(location):
        return Path(location)
    url = urlsplit(location)
    return Path(url.path) if url.scheme == "file" else None


def _check_default_file_system(spark: SparkSession, name: str, location: str) -> None:
    context: Any = spark.sparkContext
    default = str(context._jsc.hadoopConfiguration().get("fs.defaultFS"))  # noqa: SLF001
    if not URL.match(location) and not default.startswith("file:"):
        raise StartUpError(
            f"{name} = {location} has no scheme, and this cluster's default file system is {default}: write "
            f"{default.rstrip('/')}/..., or file:/... for a disk that all machines share"
        )


def _check_shared(spark: SparkSession, name: str, folder: Path) -> None:
    # In both directions: each task writes a file for the driver, and the driver writes a file for the tasks.
    mark = f".probe-{token_hex(8)}"
    of_the_driver = folder / f"{mark}-driver"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        of_the_driver.touch()
    except OSError as error:
        raise StartUpError(f"{name} = {folder} cannot be written: {error}") from error

    def probe(numbers: Iterable[int]) -> Iterable[tuple[str, bool]]:
        for number in numbers:
            # The folder is missing, or is another folder.
            with suppress(OSError):
                (folder / f"{mark}-{number}").touch()
            yield os.uname().nodename, of_the_driver.exists()

    try:
        tasks = spark.sparkContext.parallelize(range(_PROBES), _PROBES)
        blind = sorted(
            {machine for machine, sees in tasks.mapPartitions(probe).collect() if not sees}
        )
        written = list(folder.glob(f"{mark}-[0-9]*"))
    finally:
        for file in folder.glob(f"{mark}-*"):
            file.unlink()
    if blind or len(written) < _PROBES:
        raise StartUpError(
            f"{name} = {folder} is a folder that driver and executors do not "
            f"share{' (not seen on ' + ', '.join(blind) + ')' if blind else ''}: set the whole path of a folder "
            "that all of them mount, or an object store"
        )


def check_tables_take_files(spark: SparkSession, root: str) -> None:
    """Refuse a root with a table whose folder is read-only; nothing stays there. Raises StartUpError with the folder."""
    catalog = TableCatalog(root)
    for table in TABLES:
        if catalog.exists(spark, table.name):
            folder = CheckpointFolder(spark, catalog.location(table.name))
            check_takes_files(folder, f"tables.root = {root}: {folder.location}")


def check_catalog_takes_appends(spark: SparkSession, root: str) -> None:
    """Append no rows to each table, as a catalog checks our rights first; Delta writes no file. Raises PySparkException."""
    catalog = TableCatalog(root)
    for table in TABLES:
        if catalog.exists(spark, table.name):
            nothing = spark.createDataFrame([], table.schema)
            catalog.save(nothing.write.format("delta").mode("append"), table.name)


def check_takes_files(folder: CheckpointFolder, named: str) -> None:
    """Refuse a folder in which no file can be created or removed. Raises StartUpError, which begins with `named`."""
    probe = f".probe-{token_hex(8)}"
    try:
        folder.write(probe, "")
        folder.remove(probe)
    except Py4JJavaError as error:
        raise StartUpError(f"{named} cannot be written: {error.java_exception}") from error
