"""The hold windows inside the checkpoint, wherever Spark keeps that.

Every write is a new file with the next number, as in Spark's own logs: not every file system can replace a file in one
step, and windows that are lost would let timers fire too soon.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from group_coordinator.runtime.hold_windows import Windows, dump, load

_FOLDER = "hold_windows"


class HoldFile:
    """Read and written as Spark does with its own files of a checkpoint, so that object stores work as folders do."""

    def __init__(self, spark: SparkSession, checkpoint_location: str) -> None:
        # PySpark offers no file system of its own.
        session: Any = spark
        self._jvm = session._jvm  # noqa: SLF001
        streaming = self._jvm.org.apache.spark.sql.execution.streaming
        self._folder = self._path(checkpoint_location, _FOLDER)
        configuration = session._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001
        self._files = streaming.CheckpointFileManager.create(self._folder, configuration)
        self._files.mkdirs(self._folder)

    def read(self) -> Windows:
        """The windows so far; none before the first catch-up."""
        newest = self._newest()
        if newest is None:
            return ()
        stream = self._files.open(self._file(newest))
        try:
            text = self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
        finally:
            stream.close()
        return load(text)

    def write(self, windows: Windows) -> None:
        """Replace the windows; whoever is killed here leaves the old ones or the new ones."""
        before = self._newest()
        number = 0 if before is None else before + 1
        stream = self._files.createAtomic(self._file(number), False)  # noqa: FBT003 - Scala's signature
        stream.write(dump(windows).encode())
        stream.close()
        if before is not None:
            self._files.delete(self._file(before))

    def _newest(self) -> int | None:
        names = [str(status.getPath().getName()) for status in self._files.list(self._folder)]
        return max((int(name) for name in names if name.isdecimal()), default=None)

    def _file(self, number: int) -> Any:
        return self._path(self._folder, str(number))

    def _path(self, folder: Any, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(folder, name)
