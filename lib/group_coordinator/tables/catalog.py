"""Location of the tables: folders under a root, or names in a catalog's schema; and the lock of commits on a disk.

A commit by Spark must be alone on a disk: it replaces a file that another process has created after Spark looked for it, and that
commit would be lost. Commits of the deltalake package never replace a file, and may run at the same time. On S3 both commit by
a conditional PUT (checkpoint/object_store.py); catalogs and other stores have ways of their own.
"""

from __future__ import annotations

import fcntl
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import deltalake
from delta.tables import DeltaTable
from pyspark.sql import DataFrame, DataFrameWriter, SparkSession

from group_coordinator.tables.roots import URL, is_folder, is_on_s3


def commit_of_spark(folder: Path | str | None) -> AbstractContextManager[None]:
    """Lock out all other commits to a table during the block, after waiting for their end; only on this machine's disk."""
    return _locked(folder, fcntl.LOCK_EX)


def commit_of_deltalake(folder: Path | str | None) -> AbstractContextManager[None]:
    """Lock out Spark's commits to a table during the block, after waiting for their end; only on this machine's disk."""
    return _locked(folder, fcntl.LOCK_SH)


@contextmanager
def _locked(folder: Path | str | None, kind: int) -> Iterator[None]:
    if not isinstance(folder, Path):
        yield
        return
    # Never removed: another process may be about to lock it. The operating system drops the lock with the process, even
    # after a kill.
    with folder.with_name(f".{folder.name}.commits").open("ab") as file:
        fcntl.flock(file, kind)
        yield


_PART = r"(?:`[^`]+`|[^\s`./:]+)"
_SCHEMA_OF_A_CATALOG = re.compile(rf"{_PART}\.{_PART}")
_NOT_FOR_A_DISK = re.compile(r"[\x00-\x1f\\\[\]^|]|%[0-9A-Fa-f]{2}")
"""Characters that the deltalake package cannot write in a path, or reads back as another path."""


class TablesRootError(ValueError):
    """The tables' root is neither a folder nor a schema of a catalog, or cannot hold tables. The message names it."""


@dataclass(frozen=True, slots=True)
class TableCatalog:
    """All tables under a root: a folder, which has a slash or a scheme, or `catalog.schema`, quoted or not.

    Raises:
        TablesRootError: the root is neither, or a folder of this machine whose path Delta's tables cannot have.
    """

    root: str

    def __post_init__(self) -> None:
        if self.is_schema and not _SCHEMA_OF_A_CATALOG.fullmatch(self.root):
            raise TablesRootError(
                f"tables.root = {self.root}: write a folder with a slash, ./{self.root}, and the schema of a catalog "
                "as catalog.schema, with ` around a part that has dots or spaces"
            )
        refused = _NOT_FOR_A_DISK.search(str(self.local_root or ""))
        if refused is not None:
            raise TablesRootError(
                f"tables.root = {self.local_root}: tables cannot be written to a path with {refused[0]!r}; "
                "give another folder"
            )

    @property
    def is_schema(self) -> bool:
        """True if the root is `catalog.schema`; a folder of such a name is written ./a.b."""
        return not is_folder(self.root)

    @property
    def schema_name(self) -> str:
        return ".".join(f"`{part.strip('`')}`" for part in re.findall(_PART, self.root))

    @property
    def local_root(self) -> Path | None:
        if self.is_schema or URL.match(self.root):
            return None
        return Path(self.root).absolute()

    def location(self, table: str) -> str:
        """Return the table's full name, or the address of its folder."""
        if self.is_schema:
            return f"{self.schema_name}.`{table}`"
        folder = self.local_folder(table)
        return str(folder) if folder else f"{self.root.rstrip('/')}/{table}"

    def local_folder(self, table: str) -> Path | None:
        return self.local_root and self.local_root / table

    @property
    def direct_root(self) -> Path | str | None:
        """The root for the deltalake package, which needs no Spark: a folder of this machine, or on S3; None: only Spark writes there."""
        on_s3 = self.root.rstrip("/") if is_on_s3(self.root) else None
        return self.local_root or on_s3

    def direct(self, table: str) -> Path | str | None:
        return self.local_folder(table) or (self.direct_root and self.location(table))

    def sql_name(self, table: str) -> str:
        return self.location(table) if self.is_schema else f"delta.`{self.location(table)}`"

    def exists(self, spark: SparkSession, table: str) -> bool:
        location = self.location(table)
        if self.is_schema:
            return spark.catalog.tableExists(location)
        # Without Spark, whose first look at a table takes long.
        if self.local_root is not None:
            return deltalake.DeltaTable.is_deltatable(location)
        return DeltaTable.isDeltaTable(spark, location)

    def read(self, spark: SparkSession, table: str) -> DataFrame:
        return self.writable(spark, table).toDF()

    def read_stream(self, spark: SparkSession, table: str) -> DataFrame:
        """Return the table as a stream of its appended rows."""
        # A table's first rows are one batch, however many files they are in: OPTIMIZE may have put rows of very
        # different age into one file, and compaction relies on the order of batches. Commits that rewrite rows are
        # skipped: thinned history has no new rows (tables/thinning.py).
        whole = {"maxFilesPerTrigger": 2**31 - 1, "skipChangeCommits": True}
        reader = spark.readStream.format("delta").options(**whole)
        location = self.location(table)
        return reader.table(location) if self.is_schema else reader.load(location)

    def writable(self, spark: SparkSession, table: str) -> DeltaTable:
        location = self.location(table)
        if self.is_schema:
            return DeltaTable.forName(spark, location)
        return DeltaTable.forPath(spark, location)

    def save(self, writer: DataFrameWriter, table: str) -> None:
        """Finish a write into the table; on this machine's disk no other process commits to it meanwhile."""
        location = self.location(table)
        if self.is_schema:
            writer.saveAsTable(location)
            return
        with commit_of_spark(self.local_folder(table)):
            writer.save(location)
