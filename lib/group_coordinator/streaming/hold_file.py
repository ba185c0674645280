"""The hold windows beside the checkpoint, wherever Spark keeps that."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from group_coordinator.streaming.hold_windows import Windows, dump, load

_NAME = "hold_windows.json"


class HoldFile:
    """Read and written through Hadoop's file systems, so that object stores work as folders do."""

    def __init__(self, spark: SparkSession, checkpoint_location: str) -> None:
        # PySpark offers no file system of its own.
        context: Any = spark.sparkContext
        self._jvm = context._jvm  # noqa: SLF001
        hadoop = context._jsc.hadoopConfiguration()  # noqa: SLF001
        self._path = self._jvm.org.apache.hadoop.fs.Path(f"{checkpoint_location}/{_NAME}")
        self._files = self._path.getFileSystem(hadoop)

    def read(self) -> Windows:
        """The windows so far; none before the first catch-up."""
        if not self._files.exists(self._path):
            return ()
        stream = self._files.open(self._path)
        try:
            text = self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
        finally:
            stream.close()
        return load(text)

    def write(self, windows: Windows) -> None:
        """Replace the file; there is always an old or a new one."""
        fresh = self._path.suffix(".new")
        stream = self._files.create(fresh, True)  # noqa: FBT003 - Java's signature
        try:
            stream.write(dump(windows).encode())
        finally:
            stream.close()
        self._files.delete(self._path, False)  # noqa: FBT003
        self._files.rename(fresh, self._path)
