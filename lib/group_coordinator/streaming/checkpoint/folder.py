"""Our own files in a checkpoint folder, on any file system that Spark supports."""

from __future__ import annotations

from typing import Any, TypeVar

from msgspec import DecodeError, json
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from group_coordinator.streaming.checkpoint.object_store import (
    FILES_OF_SCHEME,
    SETTING,
    file_managers,
)

Content = TypeVar("Content")

_MOST_REPLACED = 10
"""Replaced files that a folder keeps, at most, before they are removed."""
_DELETES = "group.coordinator.deletes"
_MISSING = ("FileNotFoundException", "NoSuchFileException")

MADE_AGAIN = "restore a copy of it, or move the checkpoint away and start again: the start then names the next step"
"""Remedy for a file without which the checkpoint cannot continue."""


class DamagedFileError(RuntimeError):
    """A file in a checkpoint does not have our format. The message names it."""


class CheckpointFolder:
    """Reader and writer of files, by the classes that Spark uses for checkpoints, so that object stores work as folders do.

    A file is written under another name and then renamed, or is one PUT on S3: a crash leaves the old or the new text.
    """

    def __init__(self, spark: SparkSession, location: str) -> None:
        self.location = location
        # PySpark offers no file system of its own.
        session: Any = spark
        jvm = session._jvm  # noqa: SLF001
        # Kept, as py4j asks Java about each part of a name, and Java looks for such a class in all jars.
        self._java_path = jvm.org.apache.hadoop.fs.Path
        self._io_utils = jvm.org.apache.commons.io.IOUtils
        configuration = session._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001
        given = self._java_path(location)
        file_system = given.getFileSystem(configuration)
        # Some classes that read and write checkpoints reject an address without a host, such as hdfs:///folder.
        root = given.makeQualified(file_system.getUri(), file_system.getWorkingDirectory())
        self.address_in_full = str(root)
        """The address with scheme, host and absolute path, as Spark's queries need it."""
        scheme = file_system.getScheme()
        self._is_local = scheme == "file"
        if self._is_local:
            # By default Hadoop writes a checksum next to every local file, and the two are not replaced together.
            configuration.set("fs.file.impl", "org.apache.hadoop.fs.RawLocalFileSystem")
            configuration.set("fs.file.impl.disable.cache", "true")
        files_here = configuration.get(FILES_OF_SCHEME + scheme)
        if files_here is not None:
            configuration.set(SETTING, files_here)
        # S3CheckpointFiles reads this to know which files other readers may still see for a while.
        configuration.set(_DELETES, "now")
        self._files = file_managers(spark).create(root, configuration)
        # Replaced files are not read again, so their deletion may wait for a bulk request.
        configuration.set(_DELETES, "later")
        self._outdated = file_managers(spark).create(root, configuration)
        self._numbers: dict[str, list[int]] = {}
        """Numbers of the existing files of each folder where `write_next` has written; the last number is current."""

    def exists(self, name: str) -> bool:
        return bool(self._files.exists(self._path(name)))

    def names_in(self, name: str) -> set[str]:
        """Return the names of the files in a folder; empty if the folder is missing."""
        if not self.exists(name):
            return set()
        return {str(file.getPath().getName()) for file in self._files.list(self._path(name))}

    def read(self, name: str) -> str | None:
        """Return a file's text; None if the file does not exist."""
        try:
            stream = self._files.open(self._path(name))
        except Py4JJavaError as error:
            if _kind(error) not in _MISSING:
                raise
            return None
        try:
            return str(self._io_utils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def write(self, name: str, text: str) -> None:
        """Replace a file, in one step where the file system can: on some object stores the file is missing for a moment."""
        path = self._path(name)
        self._files.mkdirs(path.getParent())
        self._remove_checksum(name)
        stream = self._files.createAtomic(path, True)  # noqa: FBT003 - Scala's signature
        stream.write(text.encode())
        stream.close()

    def write_new(self, name: str, text: str) -> bool:
        """Write a file unless the name exists; return True if it was written."""
        try:
            stream = self._files.createAtomic(self._path(name), False)  # noqa: FBT003 - Scala's signature
            stream.write(text.encode())
            stream.close()
        except Py4JJavaError as error:
            if _kind(error) != "FileAlreadyExistsException":
                raise
            return False
        return True

    def read_newest(self, name: str) -> str | None:
        """Return the text of the last `write_next` in a folder; None if there is none."""
        newest = self.newest(name)
        return None if newest is None else self.read(newest)

    def write_next(self, name: str, text: str) -> None:
        """Write a file with the next number, as Spark's own logs do, and remove earlier files now and then.

        For content that must never be lost. Only one object at a time may write to a folder, as it is listed only once.
        """
        if name not in self._numbers:
            self._numbers[name] = sorted(self._numbers_in(name))
        numbers = self._numbers[name]
        # A new name, as not every file system can replace a file in one step.
        number = numbers[-1] + 1 if numbers else 0
        self.write(f"{name}/{number}", text)
        # Rarely, because each deletion is a request on an object store.
        if len(numbers) >= _MOST_REPLACED:
            for replaced in numbers:
                self._remove_checksum(f"{name}/{replaced}")
                self._outdated.delete(self._path(f"{name}/{replaced}"))
            numbers.clear()
        numbers.append(number)

    def newest(self, name: str) -> str | None:
        """Return the name of the file that the last `write_next` in a folder wrote; None if there is none."""
        newest = max(self._numbers_in(name), default=None)
        return None if newest is None else f"{name}/{newest}"

    def read_as(self, name: str, kind: type[Content], remedy: str = MADE_AGAIN) -> Content | None:
        """Return the decoded content of a JSON file; None if the file does not exist. `remedy` ends the error's sentence.

        Raises:
            DamagedFileError: it is not JSON, or not of this type.
        """
        text = self.read(name)
        if text is None:
            return None
        try:
            return json.decode(text, type=kind)
        except (DecodeError, RecursionError) as error:
            raise self.damaged(name, error, remedy) from error

    def read_newest_as(
        self, name: str, kind: type[Content], remedy: str = MADE_AGAIN
    ) -> Content | None:
        """Return the decoded content of the file that the last `write_next` in a folder wrote.

        Raises DamagedFileError: as for `read_as`.
        """
        newest = self.newest(name)
        return None if newest is None else self.read_as(newest, kind, remedy)

    def damaged(self, name: str, fault: object, remedy: str = MADE_AGAIN) -> DamagedFileError:
        """Return the error for a damaged file: its address, the fault and the remedy."""
        return DamagedFileError(f"{self.address(name)} is damaged ({fault}): {remedy}")

    def remove(self, name: str) -> None:
        """Remove a file or a folder, if it exists."""
        # `write_next` must list the folder again.
        self._numbers.pop(name, None)
        self._remove_checksum(name)
        self._files.delete(self._path(name))

    def remove_all(self) -> None:
        self._files.delete(self._path(""))

    def address(self, name: str) -> str:
        return f"{self.location}/{name}"

    def _numbers_in(self, name: str) -> list[int]:
        return [int(file) for file in self.names_in(name) if file.isdecimal()]

    def _remove_checksum(self, name: str) -> None:
        # Hadoop may have left a checksum on a disk, and rejects a file that does not fit it.
        if self._is_local:
            folder, _, file = name.rpartition("/")
            self._files.delete(self._path(f"{folder}/.{file}.crc"))

    def _path(self, name: str) -> Any:
        return self._java_path(f"{self.address_in_full}/{name}" if name else self.address_in_full)


def _kind(error: Py4JJavaError) -> str:
    return str(error.java_exception.getClass().getSimpleName())
