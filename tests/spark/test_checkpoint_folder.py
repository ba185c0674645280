from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from pyspark.sql import SparkSession

from group_coordinator.driver.tasks.topic_subscriptions import GroupSubscriptions
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.streaming.checkpoint.journal import FEW_FILES
from group_coordinator.streaming.checkpoint.object_store import PACKAGES

pytestmark = pytest.mark.spark

INTERESTS = "topics/interests.json"


def test_there_is_always_the_old_file_or_the_new_one(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint" / "coordinator"
    folder = CheckpointFolder(spark, str(checkpoint))
    assert folder.read_newest("outages") is None

    folder.write_next("outages", "[1]")
    folder.write_next("outages", "[1, 2]")

    assert CheckpointFolder(spark, str(checkpoint)).read_newest("outages") == "[1, 2]"


def test_texts_that_were_replaced_go_ten_at_once(spark: SparkSession, tmp_path: Path) -> None:
    folder = CheckpointFolder(spark, str(tmp_path))

    def numbers_after(writes: int) -> list[int]:
        for number in range(writes):
            folder.write_next("outages", f"[{number}]")
        return sorted(int(entry.name) for entry in (tmp_path / "outages").iterdir())

    assert numbers_after(10) == list(range(10))
    assert numbers_after(1) == [10]
    assert folder.read_newest("outages") == "[0]"


def test_what_is_written_often_takes_nothing_else_with_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    folder = CheckpointFolder(spark, str(tmp_path))
    folder.write_next("meters", "{}")
    folder.write_next("acls", "before")
    folder.remove("acls")
    folder.write_next("acls", "after")

    for number in range(30):
        folder.write_next("outages", f"[{number}]")

    kept = [folder.read_newest(name) for name in ("meters", "acls", "outages")]
    assert kept == ["{}", "after", "[29]"]


def test_a_later_run_goes_on_with_the_next_number(spark: SparkSession, tmp_path: Path) -> None:
    CheckpointFolder(spark, str(tmp_path)).write_next("outages", "[1]")

    CheckpointFolder(spark, str(tmp_path)).write_next("outages", "[1, 2]")

    assert sorted(entry.name for entry in (tmp_path / "outages").iterdir()) == ["0", "1"]


def test_a_file_that_was_not_finished_does_not_count(spark: SparkSession, tmp_path: Path) -> None:
    folder = CheckpointFolder(spark, str(tmp_path))
    folder.write_next("outages", "[1]")
    (tmp_path / "outages" / ".1.a-temporary-file.tmp").write_text("[{")

    assert folder.read_newest("outages") == "[1]"


@pytest.mark.parametrize("scheme", ["", "file:"])
def test_a_file_is_replaced_in_one_step(spark: SparkSession, tmp_path: Path, scheme: str) -> None:
    folder = CheckpointFolder(spark, f"{scheme}{tmp_path}")
    assert folder.read(INTERESTS) is None
    folder.write(INTERESTS, "text 0")

    with seen_in(tmp_path / INTERESTS) as seen:
        for number in range(1, 50):
            folder.write(INTERESTS, f"text {number}")

    assert seen <= {f"text {number}" for number in range(50)}
    assert folder.read(INTERESTS) == "text 49"
    assert [entry.name for entry in (tmp_path / "topics").iterdir()] == ["interests.json"]


def test_a_checksum_that_hadoop_left_goes_with_its_file(
    spark: SparkSession, tmp_path: Path
) -> None:
    folder = CheckpointFolder(spark, str(tmp_path))
    hadoop = HadoopFiles(spark, tmp_path)
    hadoop.write(INTERESTS, "before")
    hadoop.write("outages/3", "[]")
    assert (folder.read(INTERESTS), folder.read_newest("outages")) == ("before", "[]")
    assert (tmp_path / "topics" / ".interests.json.crc").exists()

    folder.write(INTERESTS, "after")
    folder.write_next("outages", "[1]")

    assert (hadoop.read(INTERESTS), hadoop.read("outages/4")) == ("after", "[1]")
    for _ in range(10):
        folder.write_next("outages", "[2]")
    assert ".3.crc" not in [entry.name for entry in (tmp_path / "outages").iterdir()]


def test_what_groups_need_is_kept_as_it_changes(spark: SparkSession, tmp_path: Path) -> None:
    folder = CheckpointFolder(spark, str(tmp_path))

    subscriptions = GroupSubscriptions(folder)
    for number in range(FEW_FILES + 1):
        subscriptions.note(['{"group_id": "h-%d", "names": ["pay"], "regexes": []}' % number])  # noqa: UP031

    assert len(GroupSubscriptions(folder).take_changed()) == FEW_FILES + 1
    assert folder.names_in("topics/interests") == {str(FEW_FILES)}


@contextmanager
def seen_in(file: Path) -> Iterator[set[str]]:
    """What a reader finds that never stops reading."""
    seen: set[str] = set()
    over = Event()

    def look() -> None:
        while not over.is_set():
            try:
                seen.add(file.read_text())
            except FileNotFoundError:
                seen.add("nothing")

    reader = Thread(target=look)
    reader.start()
    yield seen
    over.set()
    reader.join()


def test_a_local_session_renames_with_the_class_of_its_spark(spark: SparkSession) -> None:
    setting = spark.conf.get("spark.sql.streaming.checkpointFileManagerClass")
    package, _, name = setting.rpartition(".")

    assert name == "FileSystemBasedCheckpointFileManager"
    assert package in PACKAGES


class HadoopFiles:
    """Hadoop's own file system, as it is by default."""

    def __init__(self, spark: SparkSession, root: Path) -> None:
        session: Any = spark
        self._jvm = session._jvm  # noqa: SLF001
        self._root = root
        configuration = session._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001
        configuration.set("fs.file.impl", "org.apache.hadoop.fs.LocalFileSystem")
        configuration.set("fs.file.impl.disable.cache", "true")
        self._files = self._path("").getFileSystem(configuration)

    def write(self, name: str, text: str) -> None:
        stream = self._files.create(self._path(name), True)
        stream.write(text.encode())
        stream.close()

    def read(self, name: str) -> str:
        stream = self._files.open(self._path(name))
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def _path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(str(self._root / name))
