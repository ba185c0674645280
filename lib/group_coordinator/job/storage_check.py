"""What the job's storage must be able to do, found out before anything is written to it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any
from urllib.parse import urlsplit

from pyspark.sql import SparkSession

from group_coordinator.job.refusals import JobRefusedError
from group_coordinator.job.rights_check import check_takes_files
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.streaming.cluster_options import DATABRICKS
from group_coordinator.streaming.master import is_on_this_machine
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.claims import clusters
from group_coordinator.tables.roots import URL
from group_coordinator.tables.storage_errors import storage_named

_S3 = ("s3", "s3a", "s3n")
_LOG_STORE = "io.delta.storage.S3DynamoDBLogStore"
_PROBES = 32
"""Tasks that look at a folder: more than one on every executor, as a rule."""


def check_storage(spark: SparkSession, job: JobSettings) -> None:
    """Refuse folders that driver and executors do not share.

    A path without a scheme is this machine's disk to the driver, and to each executor its own.

    Raises:
        JobRefusedError: the message names the setting, the folder and what to do.
    """
    if is_on_this_machine(spark):
        return
    settings = {"tables.root": job.tables_root, "checkpoint.location": job.checkpoint_location}
    if TableCatalog(job.tables_root).is_schema:
        del settings["tables.root"]
    for name, location in settings.items():
        folder = _on_a_disk(location)
        if folder is not None:
            _check_default_file_system(spark, name, location)
            _check_shared(spark, name, folder)


def check_checkpoint(spark: SparkSession, job: JobSettings) -> None:
    """Refuse a checkpoint's location that cannot be reached, or takes no files. Nothing but the folder stays there.

    Raises:
        JobRefusedError: the message names the setting, the folder and what the storage says.
        StorageError: likewise.
    """
    with storage_named("checkpoint.location", job.checkpoint_location):
        folder = CheckpointFolder(spark, job.checkpoint_location)
    check_takes_files(folder, f"checkpoint.location = {job.checkpoint_location}")


def check_second_writer(spark: SparkSession, job: JobSettings) -> None:
    """Refuse compaction beside the coordinator, in a driver of its own, where one could replace the other's commits.

    Raises:
        JobRefusedError: the message says what to do.
    """
    missing = _missing_log_store(spark, job)
    if missing is not None:
        raise JobRefusedError(
            f"tables.root = {job.tables_root}: on S3 two drivers that write one Delta table lose each other's commits. "
            f"Compact inside the coordinator (--with-compaction), or configure {missing} in both drivers "
            f"({_LOG_STORE})"
        )


def check_other_clusters(spark: SparkSession, job: JobSettings) -> None:
    """Refuse tables that the coordinator of another cluster writes too, where one could replace the other's commits.

    On a disk whose path has no scheme they keep out of each other's way (tables/commit_lock.py).

    Raises:
        JobRefusedError: the message says what to do.
    """
    missing = _missing_log_store(spark, job)
    is_url_of_a_disk = urlsplit(job.tables_root).scheme == "file"
    if missing is None and not is_url_of_a_disk:
        return
    others = clusters(spark, TableCatalog(job.tables_root)) - {job.cluster_id}
    if others:
        where, way_out = (
            ("by a file: URL", "write it as a path, without file:")
            if missing is None
            else ("on S3", f"configure {missing} in all drivers ({_LOG_STORE})")
        )
        raise JobRefusedError(
            f"tables.root = {job.tables_root} has rows of cluster.id = {min(others)} too, and {where} two drivers that "
            f"write one Delta table lose each other's commits: give this run tables of its own, or {way_out}"
        )


def _missing_log_store(spark: SparkSession, job: JobSettings) -> str | None:
    """The setting without which Delta has no way to put a file only if it is absent; None: nothing is missing."""
    scheme = urlsplit(job.tables_root).scheme
    if scheme not in _S3 or DATABRICKS in os.environ:
        return None
    setting = f"spark.delta.logStore.{scheme}.impl"
    return setting if spark.conf.get(setting, None) is None else None


def _on_a_disk(location: str) -> Path | None:
    """The folder if it is a path, or a file: URL."""
    if not URL.match(location):
        return Path(location)
    url = urlsplit(location)
    return Path(url.path) if url.scheme == "file" else None


def _check_default_file_system(spark: SparkSession, name: str, location: str) -> None:
    context: Any = spark.sparkContext
    default = str(context._jsc.hadoopConfiguration().get("fs.defaultFS"))  # noqa: SLF001
    if not URL.match(location) and not default.startswith("file:"):
        raise JobRefusedError(
            f"{name} = {location} has no scheme, and this cluster's default file system is {default}: write "
            f"{default.rstrip('/')}/..., or file:/... for a disk that all machines share"
        )


def _check_shared(spark: SparkSession, name: str, folder: Path) -> None:
    """Tasks write a file each, and the driver looks for them; it writes one, and they look for it."""
    mark = f".probe-{token_hex(8)}"
    of_the_driver = folder / f"{mark}-driver"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        of_the_driver.touch()
    except OSError as error:
        raise JobRefusedError(f"{name} = {folder} cannot be written: {error}") from error

    def probe(numbers: Iterable[int]) -> Iterable[tuple[str, bool]]:
        for number in numbers:
            with suppress(OSError):  # the folder is not there, or another one
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
        raise JobRefusedError(
            f"{name} = {folder} is a folder that driver and executors do not share"
            f"{' (not seen on ' + ', '.join(blind) + ')' if blind else ''}: give a folder of a file system that all "
            "of them mount, with its whole path, or an object store"
        )
