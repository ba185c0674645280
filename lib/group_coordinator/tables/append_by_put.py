"""Appends to a table on S3 by two PUTs: a data file, and the commit.

The deltalake package takes six requests for an append, in turn: it looks for the table's last version
before the commit, and reads the commit afterwards. Here the package appends to an empty copy of the table on this
machine's disk, and the files that it wrote there are put to the store. The commit is a conditional PUT of the version
after the last known version, so a commit of another process is noticed and never replaced.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction
from py4j.java_gateway import JavaClass
from pyspark.sql import SparkSession

from group_coordinator.tables.append import commit_rows, spark_write_errors
from group_coordinator.tables.roots import is_on_s3

LOG_STORE = "group_coordinator.S3LogStore"
"""Java class of Delta's commits on S3, and of PUTs of whole files (checkpoint/S3Files.java)."""


@dataclass(slots=True)
class AppendByPut:
    """The appends of a process to a table; each knows the version that the last append has made."""

    spark: SparkSession
    location: str
    version: int
    _copy: DeltaTable
    _folder: TemporaryDirectory[str]

    @classmethod
    def to(cls, spark: SparkSession, location: Path | str, table: DeltaTable) -> AppendByPut | None:
        """Return None if the package has to append by itself.

        That is outside S3, if this session lacks the class that puts (checkpoint/object_store.py), and for a table
        whose protocol differs from the protocol of the package's copy.
        """
        if isinstance(location, Path) or not is_on_s3(location) or _files(spark) is None:
            return None
        folder: TemporaryDirectory[str] = TemporaryDirectory(prefix="group-coordinator-")
        metadata = table.metadata()
        copy = DeltaTable.create(
            folder.name,
            table.schema(),
            partition_by=metadata.partition_columns,
            configuration=metadata.configuration,
        )
        # The package writes files for its copy's protocol, which the table might not accept.
        if copy.protocol() != table.protocol():
            return None
        return cls(spark, location, table.version(), copy, folder)

    def append(self, rows: pa.Table | pa.RecordBatchReader, mark: Transaction) -> None:
        """Append the rows and the mark as the next version.

        Raises:
            TableWriteError: the write to the store failed, or another process has committed since the last append.
        """
        commit_rows(self._copy, rows, CommitProperties(app_transactions=[mark]))
        commit = _commit_file(self._copy.version())
        written = Path(self._folder.name, commit)
        actions = map(json.loads, written.read_text().splitlines())
        with spark_write_errors(self.location):
            for name in [unquote(action["add"]["path"]) for action in actions if "add" in action]:
                self._put(name, name, replaces=True)
                # Only the copy's log is needed again, not its data.
                Path(self._folder.name, name).unlink()
            # After the data files: a reader of the commit must find them.
            self._put(commit, _commit_file(self.version + 1), replaces=False)
        self.version += 1

    def _put(self, name: str, target: str, *, replaces: bool) -> None:
        session: Any = self.spark
        hadoop = session._jsc.hadoopConfiguration()  # noqa: SLF001 - PySpark has no public way
        source = str(Path(self._folder.name, name))
        _files(self.spark).put(source, f"{self.location}/{target}", replaces, hadoop)


def _commit_file(version: int) -> str:
    return f"_delta_log/{version:020}.json"


def _files(spark: SparkSession) -> Any:
    """Return the Java class that puts; None: this session lacks it."""
    session: Any = spark
    found = getattr(session._jvm, LOG_STORE)  # noqa: SLF001 - PySpark has no public way
    return found if isinstance(found, JavaClass) else None
