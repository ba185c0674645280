"""Events through the operator with one exchange: what came out of it, and what it left behind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from group_coordinator.runtime.outputs import EVENT, HEADER
from group_coordinator.runtime.update_group import UpdateContext
from group_coordinator.streaming.operator import worker_function
from group_coordinator.streaming.operator.known_pyspark import Wanted
from tests.support.group_updates import update_context
from tests.support.operator_rows import lines_in

PACKED = "group_id STRING, event BINARY"
START_MS = 1_767_225_600_000
# Timers that fire by the wall clock would find the two runs at different places.
CONTEXT = update_context(timer_slack_ms=0, timers_suspended=True)


def request(api: str, version: int, offset: int, body: dict[str, Any]) -> dict[str, Any]:
    return {"api": api, "version": version, "correlationId": f"c-{offset}", "body": body}


def commit(group: str, offset: int) -> dict[str, Any]:
    partition = {"partitionIndex": offset % 7, "committedOffset": offset}
    body = {"groupId": group, "topics": [{"name": "orders", "partitions": [partition]}]}
    return request("OffsetCommit", 8, offset, body)


def write(
    spark: SparkSession,
    folder: Path,
    batches: list[list[tuple[str, object]]],
    start_ms: int = START_MS,
) -> None:
    offset = 0
    for events in batches:
        rows = []
        for group, content in events:
            value = content if isinstance(content, bytes) else json.dumps(content).encode()
            rows.append(
                (
                    group,
                    bytearray(HEADER.pack(0, offset, start_ms + offset, EVENT, len(value)) + value),
                )
            )
            offset += 1
        frame = spark.createDataFrame(rows, PACKED)
        frame.coalesce(1).write.mode("append").parquet(str(folder))


class Played:
    """One run over the events: what came out, and what it left in the state store."""

    def __init__(
        self,
        spark: SparkSession,
        events: Path,
        folder: Path,
        way: Wanted,
        context: UpdateContext = CONTEXT,
    ) -> None:
        self.lines: dict[int, list[str]] = {}
        records = (
            spark.readStream.schema(PACKED).option("maxFilesPerTrigger", 1).parquet(str(events))
        )
        query = (
            worker_function.coordinate(records, context, way)
            .writeStream.foreachBatch(self._collect)
            .option("checkpointLocation", str(folder))
            .trigger(processingTime="100 milliseconds")
            .start()
        )
        while len(self.lines) < 3 or not self.is_over(context):
            assert not query.awaitTermination(0.05), "the query ended"
        query.stop()
        self.states = self._states_of(spark, folder)

    def is_over(self, context: UpdateContext) -> bool:
        """Timers that do not hold have to be seen: a later batch than the first has output."""
        return context.timers_suspended or any(any(self.lines[b]) for b in self.lines if b > 0)

    def _collect(self, batch: DataFrame, batch_id: int) -> None:
        self.lines[batch_id] = sorted(lines_in(batch.collect()))

    def _states_of(self, spark: SparkSession, folder: Path) -> dict[str, tuple[int, bytes]]:
        rows = spark.read.format("statestore").load(str(folder)).collect()
        return {
            row.key.group_id: (row.value.groupState.version, bytes(row.value.groupState.snapshot))
            for row in rows
        }
