"""The path of a batch, as the log at debug level names it; with Spark: tests/spark/test_replies.py."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import pytest
from pyspark.sql import DataFrame, SparkSession

from group_coordinator.runtime.outputs import Responses
from group_coordinator.settings import load
from group_coordinator.streaming import batch_writer
from group_coordinator.streaming.batch_writer import Sinks
from group_coordinator.streaming.operator.output_rows import RESPONSE
from group_coordinator.streaming.small_batch import SmallBatch, SmallBatches, sorted_by_kind
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.writer import Writer

JOB = load(None, ()).job
FIRST_BATCH_ID = 100


class Spark:
    """A batch without outputs, in place of Spark's."""

    def persist(self, _level: object) -> None: ...

    def unpersist(self) -> None: ...


class NoResponses:
    @contextmanager
    def writing(self, _responses: Sequence[Responses]) -> Iterator[None]:
        yield


A_RESPONSE = sorted_by_kind(
    cast("SparkSession", None), lambda: cast("DataFrame", None), [(RESPONSE, 1, b"")]
)
NO_OUTPUTS = sorted_by_kind(cast("SparkSession", None), lambda: cast("DataFrame", None), [])


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Any:
    """Write batch 7 of Spark, given if it has few events and what the driver collects; return path and calls before outputs."""

    def write(*, has_few_events: bool, collected: SmallBatch | None) -> tuple[list[str], int]:
        monkeypatch.setattr(batch_writer, "collected_small_batch", lambda *_: collected)
        monkeypatch.setattr(batch_writer, "responses_of", lambda *_: None)
        monkeypatch.setattr(batch_writer, "send", lambda *_: None)
        monkeypatch.setattr(batch_writer, "outputs_of", lambda _: NO_OUTPUTS)
        calls: list[None] = []
        sinks = Sinks(
            job=JOB,
            writer=Writer(TableCatalog(JOB.tables_root), JOB.cluster_id, 1),
            report=lambda *_: None,
            first_batch_id=FIRST_BATCH_ID,
            small_batches=SmallBatches(lambda _: has_few_events, NoResponses()),
            before_outputs=lambda: calls.append(None),
        )
        with caplog.at_level(logging.DEBUG, "group_coordinator"):
            sinks.write(cast("DataFrame", Spark()), 7)
        return [line for line in caplog.messages if "path=" in line], len(calls)

    return write


@pytest.mark.parametrize(
    ("has_few_events", "collected", "path", "calls"),
    [
        (True, SmallBatch(NO_OUTPUTS, ()), "small-batch", 0),
        (True, SmallBatch(A_RESPONSE, ()), "small-batch", 1),
        # Spark's tasks send the responses before anybody has counted them.
        (False, None, "spark reason=many-events", 1),
        (True, None, "spark reason=large-outputs", 1),
    ],
)
def test_a_batch_names_its_path_and_says_so_before_its_outputs(
    written: Any, *, has_few_events: bool, collected: SmallBatch | None, path: str, calls: int
) -> None:
    found = written(has_few_events=has_few_events, collected=collected)

    assert found == ([f"batch=107 path={path}"], calls)
