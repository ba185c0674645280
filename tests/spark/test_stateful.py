from __future__ import annotations

import json
import sys
from base64 import b64decode
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession

from group_coordinator.core.handlers import offset_commit
from group_coordinator.core.model.changes import Decision
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.requests import OffsetCommit
from group_coordinator.runtime.outputs import EventRow
from group_coordinator.runtime.update_group import UpdateContext
from group_coordinator.streaming.operator.known_pyspark import Exchange
from group_coordinator.streaming.operator.worker_function import coordinate
from group_coordinator.streaming.operator.worker_process import folder_for_spills
from group_coordinator.streaming.source import pack
from tests.support.group_updates import lines_of, update_context, updated
from tests.support.operator_rows import lines_in

pytestmark = pytest.mark.spark
BOTH_WAYS = pytest.mark.parametrize("exchange", ["stock", "lean"])

RECORDS = "key BINARY, value BINARY, partition INT, offset BIGINT, timestamp TIMESTAMP"
START = datetime(2026, 1, 1, tzinfo=UTC)
START_MS = int(START.timestamp() * 1000)
CONTEXT = update_context("offsets.retention.ms=1", "offsets.retention.check.interval.ms=1000")


def commit(group: str, offset: int, topic: str = "orders") -> bytes:
    partition = {"partitionIndex": 0, "committedOffset": offset}
    body = {"groupId": group, "topics": [{"name": topic, "partitions": [partition]}]}
    event = {
        "api": "OffsetCommit",
        "version": 8,
        "correlationId": f"{group}-{offset}",
        "body": body,
    }
    return json.dumps(event).encode()


def write(folder: Path, name: str, records: list[tuple[bytes | None, bytes | None, int]]) -> None:
    """A file of the stream: records with key, value and offset, all of one moment."""
    frame = pd.DataFrame(
        [
            {"key": key, "value": value, "partition": 0, "offset": offset, "timestamp": START}
            for key, value, offset in records
        ]
    ).astype({"partition": "int32"})
    frame["timestamp"] = frame["timestamp"].astype("datetime64[us, UTC]")
    frame.to_parquet(folder / name)


def play(
    spark: SparkSession,
    folder: Path,
    batches: int,
    exchange: Exchange,
    context: UpdateContext = CONTEXT,
) -> list[str]:
    """Let the operator take the folder's files, one a batch; all lines that come out of at least this many batches."""
    lines: list[str] = []
    done: set[int] = set()

    def collect(batch: DataFrame, batch_id: int) -> None:
        rows = batch.collect()
        if batch_id not in done:
            lines.extend(lines_in(rows))
        done.add(batch_id)

    records = (
        spark.readStream.schema(RECORDS).option("maxFilesPerTrigger", 1).parquet(str(folder / "in"))
    )
    query = (
        coordinate(pack(records, 1_048_576), context, exchange)
        .writeStream.foreachBatch(collect)
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(processingTime="100 milliseconds")
        .start()
    )
    while len(done) < batches:
        assert not query.awaitTermination(0.05), "the query ended"
    query.stop()
    return lines


@BOTH_WAYS
def test_the_operator_does_what_update_group_does_and_fires_its_timers(
    spark: SparkSession, tmp_path: Path, exchange: Exchange
) -> None:
    (tmp_path / "in").mkdir()
    first = [(b"a", commit("a", 1), 0), (b"b", commit("b", 2), 1), (b"a", commit("a", 3), 2)]
    write(tmp_path / "in", "1.parquet", first)
    write(tmp_path / "in", "2.parquet", [(b"a", commit("a", 4), 3)])

    lines = play(spark, tmp_path, batches=3, exchange=exchange)

    rows = [
        EventRow(START_MS, 0, offset, None, value) for key, value, offset in first if key == b"a"
    ]
    expected = lines_of(updated("a", None, rows, START_MS + 10_000, CONTEXT))
    of_a = [line for line in lines if '"groupId":"a"' in line or '"group_id":"a"' in line]
    for kind in "LR":
        wanted = [line for line in expected if line[0] == kind]
        assert [line for line in of_a if line[0] == kind][: len(wanted)] == wanted
    reasons = [json.loads(line[1:])["reason"] for line in lines if line[0] == "L"]
    assert sorted(reasons) == sorted(
        [*["offset-commit"] * 4, *["offset-expired"] * 3, *["group-expired"] * 3]
    )


@BOTH_WAYS
def test_a_key_that_is_no_text_is_a_dead_letter_and_stops_nothing(
    spark: SparkSession, tmp_path: Path, exchange: Exchange
) -> None:
    (tmp_path / "in").mkdir()
    records = [(None, commit("a", 1), 0), (b"\xff", commit("a", 2), 1), (b"a", commit("a", 3), 2)]
    write(tmp_path / "in", "1.parquet", records)

    lines = play(spark, tmp_path, batches=1, exchange=exchange)

    dead = [json.loads(line[1:]) for line in lines if line[0] == "D"]
    assert sorted((row["source_offset"], row["reason"]) for row in dead) == [
        (0, "the record's key is null"),
        (1, "the record's key is not UTF-8"),
    ]
    answers = [json.loads(line[1:])["correlationId"] for line in lines if line[0] == "R"]
    assert "a-3" in answers


@BOTH_WAYS
def test_a_group_with_megabytes_of_dead_letters_has_several_rows(
    spark: SparkSession, tmp_path: Path, exchange: Exchange
) -> None:
    (tmp_path / "in").mkdir()
    megabytes = [b"%d " % offset * 200_000 for offset in range(1_000, 1_100)]
    values = [*megabytes, commit("a", 7)]
    records = [(b"a", value, offset) for offset, value in enumerate(values)]
    write(tmp_path / "in", "1.parquet", records)

    lines = play(spark, tmp_path, batches=1, exchange=exchange)

    rows = [EventRow(START_MS, 0, offset, None, value) for offset, value in enumerate(values)]
    update = updated("a", None, rows, START_MS, CONTEXT)
    assert len(list(update.pieces)) > 20
    assert sorted(lines[:102]) == sorted(lines_of(update))
    assert "".join(line[0] for line in lines[:102]) == "D" * 100 + "RL"


class Defective(UpdateContext):
    """A context that brings a defect with it into the worker: commits of the topic "poison" fail."""

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)  # type: ignore[misc] # a frozen dataclass with slots has it
        if not hasattr(offset_commit, "undamaged"):
            offset_commit.undamaged = offset_commit.decide  # type: ignore[attr-defined]
            offset_commit.decide = fail_at_poison


def fail_at_poison(group: Group, request: OffsetCommit, *rest: Any) -> Decision:
    if request.topics[0].name == "poison":
        raise ZeroDivisionError("planted")
    decision: Decision = offset_commit.undamaged(group, request, *rest)  # type: ignore[attr-defined]
    return decision


@BOTH_WAYS
def test_a_defect_is_quarantined_with_its_event_alone(
    spark: SparkSession, tmp_path: Path, exchange: Exchange
) -> None:
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    (tmp_path / "in").mkdir()
    values = [commit("a", 1), commit("a", 2, "poison"), commit("a", 3), commit("b", 4)]
    records = [(b"b" if n == 3 else b"a", value, n) for n, value in enumerate(values)]
    write(tmp_path / "in", "1.parquet", records)

    defective = Defective(*(getattr(CONTEXT, field.name) for field in fields(UpdateContext)))
    lines = play(spark, tmp_path, batches=1, exchange=exchange, context=defective)

    (letter,) = [json.loads(line[1:]) for line in lines if line[0] == "D"]
    assert (letter["group_id"], letter["source_offset"]) == ("a", 1)
    assert letter["reason"] == "defect: ZeroDivisionError: planted"
    assert b64decode(letter["value"]) == values[1]
    answers = [json.loads(line[1:])["correlationId"] for line in lines if line[0] == "R"]
    assert sorted(answers) == ["a-1", "a-3", "b-4"]


def test_what_memory_cannot_hold_waits_beside_sparks_blocks(spark: SparkSession) -> None:
    environment: Any = spark.sparkContext._jvm.org.apache.spark.SparkEnv.get()  # noqa: SLF001
    blocks = [str(path) for path in environment.blockManager().diskBlockManager().localDirs()]

    tasks = spark.sparkContext.parallelize(range(2), 2)
    found = set(tasks.map(lambda _: folder_for_spills()).collect())

    assert found <= set(blocks)
    assert folder_for_spills() is None
