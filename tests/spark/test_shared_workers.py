"""A Python worker is shared: what a task of ours decides in it, and how the next one finds it."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipimport import zipimporter

import pandas as pd
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.state import GroupState

from group_coordinator.streaming.operator import worker_function
from group_coordinator.streaming.operator.known_pyspark import Exchange, digest_here
from group_coordinator.streaming.operator.worker_function import PickledFunction
from tests.spark.played import CONTEXT, PACKED, Played, commit, write
from tests.support.task_serializer import task_serializer

pytestmark = pytest.mark.spark


class Watched(PickledFunction):
    """Every task that takes it up leaves a file; the worker's PySpark has the digest that `digest` gives it."""

    folder: Path
    digest: Callable[[], str | None]

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _watched, (self.folder, type(self).digest, *super().__reduce__())


def _watched(
    folder: Path,
    digest: Callable[[], str | None],
    take_up: Callable[..., Any],
    given: tuple[Any, ...],
) -> Callable[..., Any]:
    worker_function.digest_here = digest
    try:
        function = take_up(*given)
    finally:
        worker_function.digest_here = digest_here
    reader = task_serializer().load_stream.__module__
    Path(folder, f"{os.getpid()}-{time.time_ns()}").write_text(reader)
    return function


def _of_a_fork() -> str:
    return "0123456789abcdef"


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where tasks say which module will read their input."""
    Watched.folder, Watched.digest = tmp_path / "tasks", digest_here
    Watched.folder.mkdir()
    monkeypatch.setattr(worker_function, "PickledFunction", Watched)
    return Watched.folder


def test_a_worker_whose_pyspark_is_not_known_takes_the_stock_way(
    spark: SparkSession, tmp_path: Path, watched: Path
) -> None:
    write(spark, tmp_path / "in", [[("a", commit("a", 1))], [("a", commit("a", 2))]])
    lean = Played(spark, tmp_path / "in", tmp_path / "known", "auto")
    assert readers(watched) == {"group_coordinator.streaming.operator.lean_exchange"}

    Watched.digest = _of_a_fork
    stock = Played(spark, tmp_path / "in", tmp_path / "fork", "auto")

    assert readers(watched) == {"pyspark.sql.pandas.serializers"}
    assert (stock.lines[0], stock.lines[1]) == (lean.lines[0], lean.lines[1])
    assert stock.states == lean.states
    with pytest.raises(StreamingQueryException, match="is not tested with the PySpark"):
        Played(spark, tmp_path / "in", tmp_path / "refused", "lean")


def readers(folder: Path) -> set[str]:
    """What the tasks since the last question have said."""
    files = list(folder.iterdir())
    found = {file.read_text() for file in files}
    for file in files:
        file.unlink()
    return found


class PlayedBesideOthers(Played):
    """After each batch somebody else's tasks run in the same session: in which processes, and what they find there."""

    def __init__(self, spark: SparkSession, folder: Path, way: Exchange) -> None:
        self.found: dict[int, str] = {}
        super().__init__(spark, folder / "in", folder / way, way)

    def _collect(self, batch: DataFrame, batch_id: int) -> None:
        super()._collect(batch, batch_id)
        others = batch.sparkSession.range(0, 4, 1, 4).mapInPandas(_worker, "pid long, found string")
        self.found |= {row.pid: row.found for row in others.collect()}


@pytest.mark.parametrize("way", ["stock", "lean"])
def test_others_find_a_worker_as_if_it_had_not_been_ours(
    spark: SparkSession, tmp_path: Path, watched: Path, way: Exchange
) -> None:
    write(spark, tmp_path / "in", [[("a", commit("a", 1)), ("b", commit("b", 2))]])

    found = PlayedBesideOthers(spark, tmp_path, way).found

    ours = {int(file.name.split("-")[0]) for file in watched.iterdir()}
    assert ours & found.keys()
    assert set(found.values()) == {_found()}


def _worker(frames: Any) -> Any:
    """A function of somebody else."""
    for _ in frames:
        yield pd.DataFrame({"pid": [os.getpid()], "found": [_found()]})


def _found() -> str:
    """What ours changes, or once changed, in a process; that its modules are not searched for garbage is no matter to others."""
    methods = (
        task_serializer().load_stream,
        task_serializer().dump_stream,
        zipimporter.invalidate_caches,
    )
    modules = (method.__module__ for method in methods)
    return f"{[*modules]} {gc.get_threshold()}"


def test_a_stock_function_in_the_same_workers_keeps_the_stock_way(
    spark: SparkSession, tmp_path: Path
) -> None:
    write(spark, tmp_path / "in", [[("a", commit("a", 1))], [("a", commit("a", 2))]])
    Played(spark, tmp_path / "in", tmp_path / "lean", "lean")
    events = spark.readStream.schema(PACKED).parquet(str(tmp_path / "in"))
    seen: list[str] = []

    query = (
        events.groupBy("group_id")
        .applyInPandasWithState(_count, "text string", "count int", "append", "NoTimeout")
        .writeStream.foreachBatch(lambda batch, _: seen.extend(r.text for r in batch.collect()))
        .option("checkpointLocation", str(tmp_path / "count"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination(120)

    assert seen == ["a has 2"]


def _count(key: tuple[str], frames: Any, state: GroupState) -> Any:
    count = sum(len(frame) for frame in frames)
    state.update((count,))
    yield pd.DataFrame({"text": [f"{key[0]} has {count}"]})


def test_a_pickled_function_is_called_in_a_worker_only() -> None:
    function: Callable[..., Any] = PickledFunction(print, CONTEXT, "lean")

    with pytest.raises(NotImplementedError, match="worker"):
        function()
