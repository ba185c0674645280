"""Files of ours beside Spark's own in a checkpoint, wherever Spark keeps that."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession


class CheckpointFolder:
    """Read and written through Hadoop's file systems, so that object stores work as folders do."""

    def __init__(self, spark: SparkSession, location: str) -> None:
        self.location = location
        # PySpark offers no file system of its own.
        context: Any = spark.sparkContext
        self._jvm = context._jvm  # noqa: SLF001
        self._files = self._path("").getFileSystem(context._jsc.hadoopConfiguration())  # noqa: SLF001

    def exists(self, name: str) -> bool:
        """Whether there is a file or a folder of this name."""
        return bool(self._files.exists(self._path(name)))

    def names_in(self, name: str) -> set[str]:
        """What is in a folder of this name; nothing if it is missing."""
        if not self.exists(name):
            return set()
        return {str(file.getPath().getName()) for file in self._files.listStatus(self._path(name))}

    def read(self, name: str) -> str | None:
        """A file's text; None if there is no such file."""
        if not self.exists(name):
            return None
        stream = self._files.open(self._path(name))
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def write(self, name: str, text: str) -> None:
        """Replace a file; a reader finds the old text, the new one, or for a moment none."""
        path = self._path(name)
        fresh = path.suffix(".new")
        stream = self._files.create(fresh, True)  # noqa: FBT003 - Java's signature
        try:
            stream.write(text.encode())
        finally:
            stream.close()
        self._files.delete(path, False)  # noqa: FBT003
        self._files.rename(fresh, path)

    def make_folder(self, name: str) -> str:
        """Make a folder unless it is there; its address."""
        self._files.mkdirs(self._path(name))
        return self.address(name)

    def address(self, name: str) -> str:
        """Where Spark finds a file or a folder of this name."""
        return f"{self.location}/{name}"

    def _path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(self.address(name) if name else self.location)
