"""Where a scene keeps its tables and its checkpoint: on a disk, or in a store that driver and executors reach."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final, Protocol

from pyarrow.fs import FileSelector, S3FileSystem, copy_files

from group_coordinator.local.jars import s3_jars
from tests.support.hadoop_cluster import HadoopCluster, hadoop_cluster
from tests.support.object_store import BUCKET, Mood, ObjectStore, environment, in_mood, object_store


class Store(Protocol):
    """A kind of place, and how a test handles the checkpoints that are there."""

    @property
    def spark_options(self) -> tuple[str, ...]:
        """Of spark-submit: settings and packages with which Spark reaches it."""
        ...

    def settings(self, folder: Path) -> tuple[str, ...]:
        """`tables.root` and `checkpoint.location` of a scene that has this folder."""
        ...

    def names_in(self, location: str) -> set[str]:
        """What is in a folder; nothing if it is missing."""
        ...

    def read(self, location: str) -> bytes:
        """A file."""
        ...

    def copy(self, location: str, target: str) -> None:
        """A folder with all that is in it; there is no target yet."""
        ...

    def remove(self, location: str) -> None:
        """A folder with all that is in it."""
        ...

    def away(self, mood: Mood = Mood.AWAY) -> AbstractContextManager[None]:
        """It serves nobody for the time of the block; a disk cannot, and HDFS is away in one way only."""
        ...


class Disk:
    """A folder that driver and executors share."""

    spark_options: tuple[str, ...] = ()

    def settings(self, folder: Path) -> tuple[str, ...]:
        return f"tables.root={folder}/tables", f"checkpoint.location={folder}/checkpoint"

    def names_in(self, location: str) -> set[str]:
        return {file.name for file in Path(location).glob("*")}

    def read(self, location: str) -> bytes:
        return Path(location).read_bytes()

    def copy(self, location: str, target: str) -> None:
        shutil.copytree(location, target)

    def remove(self, location: str) -> None:
        shutil.rmtree(location)

    def away(self, mood: Mood = Mood.AWAY) -> AbstractContextManager[None]:
        raise NotImplementedError


DISK: Final[Store] = Disk()


class Hdfs:
    """The checkpoint is on HDFS, the tables are on a disk. Made by `hdfs`."""

    spark_options = ()

    def __init__(self, cluster: HadoopCluster) -> None:
        self.cluster = cluster

    def settings(self, folder: Path) -> tuple[str, ...]:
        checkpoint = f"{self.cluster.address}/{folder.name}/checkpoint"
        return f"tables.root={folder}/tables", f"checkpoint.location={checkpoint}"

    def names_in(self, location: str) -> set[str]:
        if self.cluster.dfs("-test", "-d", location).status:
            return set()
        listed = self._told("-ls", "-C", location).decode()
        return {line.rpartition("/")[2] for line in listed.splitlines()}

    def read(self, location: str) -> bytes:
        return self._told("-cat", location)

    def copy(self, location: str, target: str) -> None:
        self._told("-cp", location, target)

    def remove(self, location: str) -> None:
        self._told("-rm", "-r", location)

    @contextmanager
    def away(self, mood: Mood = Mood.AWAY) -> Iterator[None]:
        if mood is not Mood.AWAY:
            raise NotImplementedError
        self.cluster.stop_name_node()
        try:
            yield
        finally:
            self.cluster.start_name_node()

    def _told(self, *arguments: str) -> bytes:
        status, printed = self.cluster.dfs(*arguments)
        assert status == 0, f"hdfs dfs {' '.join(arguments)}: status {status}"
        return printed


class S3:
    """Checkpoint and tables are in a bucket. Made by `s3`."""

    def __init__(self, store: ObjectStore) -> None:
        self.store = store
        self.spark_options = _options(store)
        self._files = _files_on_s3()

    def settings(self, folder: Path) -> tuple[str, ...]:
        place = f"s3a://{BUCKET}/{folder.name}"
        return f"tables.root={place}/tables", f"checkpoint.location={place}/checkpoint"

    def names_in(self, location: str) -> set[str]:
        listed = self._files.get_file_info(FileSelector(_key(location), allow_not_found=True))
        return {each.base_name for each in listed}

    def read(self, location: str) -> bytes:
        with self._files.open_input_stream(_key(location)) as stream:
            return bytes(stream.read())

    def copy(self, location: str, target: str) -> None:
        copy_files(
            _key(location),
            _key(target),
            source_filesystem=self._files,
            destination_filesystem=self._files,
        )

    def remove(self, location: str) -> None:
        # Without a request: the server takes back no folders of pyarrow's in the order in which pyarrow asks it to.
        shutil.rmtree(self.store.objects / _key(location))

    def away(self, mood: Mood = Mood.AWAY) -> AbstractContextManager[None]:
        return in_mood(self.store, mood)


class TablesOnS3(Disk):
    """The checkpoint is on a disk that driver and executors share. Made by `two_places`."""

    def __init__(self, store: ObjectStore) -> None:
        self.store = store
        self.spark_options = _options(store)

    def settings(self, folder: Path) -> tuple[str, ...]:
        tables = f"s3a://{BUCKET}/{folder.name}/tables"
        return f"tables.root={tables}", f"checkpoint.location={folder}/checkpoint"

    def away(self, mood: Mood = Mood.AWAY) -> AbstractContextManager[None]:
        return in_mood(self.store, mood)


def _options(store: ObjectStore) -> tuple[str, ...]:
    confs = [("--conf", f"{key}={value}") for key, value in store.spark_settings().items()]
    return ("--jars", ",".join(map(str, s3_jars())), *(option for conf in confs for option in conf))


def names_below(location: str) -> list[str]:
    """The names of all files below a folder on a disk, or on the S3 that the environment tells of."""
    if "://" not in location:
        return [file.name for file in Path(location).rglob("*")]
    everything = FileSelector(_key(location), allow_not_found=True, recursive=True)
    return [file.base_name for file in _files_on_s3().get_file_info(everything)]


def _files_on_s3() -> S3FileSystem:
    return S3FileSystem(
        region=os.environ["AWS_REGION"], endpoint_override=os.environ["AWS_ENDPOINT_URL"]
    )


def _key(location: str) -> str:
    return location.removeprefix("s3a://")


@contextmanager
def disk(_: Path) -> Iterator[Store]:
    yield DISK


@contextmanager
def hdfs(folder: Path) -> Iterator[Hdfs]:
    """An HDFS for the time of the block, which keeps its blocks in this folder."""
    with hadoop_cluster(folder) as cluster:
        yield Hdfs(cluster)


@contextmanager
def s3(folder: Path) -> Iterator[S3]:
    """An S3 for the time of the block, which keeps its files in this folder; this process can read what is there."""
    with object_store(folder) as store, environment(store.environment()):
        yield S3(store)


@contextmanager
def two_places(folder: Path) -> Iterator[TablesOnS3]:
    """As `s3`, for the tables alone."""
    with object_store(folder) as store, environment(store.environment()):
        yield TablesOnS3(store)


STORES = {"disk": disk, "hdfs": hdfs, "s3": s3, "two-places": two_places}
"""By the name of `--store`: a store for the time of a block, with a folder of its own."""
