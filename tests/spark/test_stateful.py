from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession

from group_coordinator import settings
from group_coordinator.streaming.exchange import Exchange
from group_coordinator.streaming.group_call import OperatorSettings
from group_coordinator.streaming.packing import EventRow
from group_coordinator.streaming.source import pack
from group_coordinator.streaming.stateful import coordinate
from group_coordinator.streaming.update_group import UpdateContext, update_group

pytestmark = pytest.mark.spark
BOTH_WAYS = pytest.mark.parametrize("exchange", ["stock", "lean"])

RECORDS = "key BINARY, value BINARY, partition INT, offset BIGINT, timestamp TIMESTAMP"
START = datetime(2026, 1, 1, tzinfo=UTC)
START_MS = int(START.timestamp() * 1000)
CONTEXT = UpdateContext(
    settings.load(
        overrides=["offsets.retention.ms=1", "offsets.retention.check.interval.ms=1000"]
    ).coordinator,
    "group-events",
    timer_slack_ms=1_000,
    timers_hold=False,
)


def commit(group: str, offset: int) -> bytes:
    partition = {"partitionIndex": 0, "committedOffset": offset}
    body = {"groupId": group, "topics": [{"name": "orders", "partitions": [partition]}]}
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


def play(spark: SparkSession, folder: Path, batches: int, exchange: Exchange) -> list[str]:
    """Let the operator take the folder's files, one a batch; all lines that come out of at least this many batches."""
    lines: list[str] = []
    done: set[int] = set()

    def collect(batch: DataFrame, batch_id: int) -> None:
        rows = batch.collect()
        if batch_id not in done:
            lines.extend(line for row in rows for line in row.lines.split("\n"))
        done.add(batch_id)

    records = (
        spark.readStream.schema(RECORDS).option("maxFilesPerTrigger", 1).parquet(str(folder / "in"))
    )
    query = (
        coordinate(pack(records, 1_048_576), OperatorSettings(CONTEXT, hold_windows=()), exchange)
        .writeStream.foreachBatch(collect)
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(processingTime="100 milliseconds")
        .start()
    )
    while len(done) < batches:
        assert not query.awaitTermination(1), "the query ended"
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
    expected = update_group("a", None, rows, START_MS + 10_000, CONTEXT).lines
    assert [line for line in lines if '"groupId":"a"' in line or '"group_id":"a"' in line][
        : len(expected)
    ] == expected
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
