"""Output rows of the stateful operator, with either exchange: the input of the batch writer.

A row has many outputs of the same kind, so the JVM has little work per output:

| kind | content | key, partition |
|---|---|---|
| response | responses of a group that go to one partition: a line of JSON each | of the records in the responses topic |
| log | rows of coordinator_log, packed (tables/log_rows.py); with the lean exchange of many groups | |
| dead letter, defect, topic need, awaited markers, rebalancing, state read, denial | an output in JSON | |
| meters | the increments of Kafka's meters by the rows of the log (runtime/meters.py), by name, in JSON | |

`count` is the number of outputs in a row. In a batch that the driver collects, a task replaces content beyond the limits by null.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple, TypeAlias

import msgspec
import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import BinaryType, IntegerType, StringType, StructField, StructType

from group_coordinator.runtime.meters import counted
from group_coordinator.runtime.outputs import (
    AwaitedMarkersLine,
    DeadLetterRow,
    DenialRow,
    LogRow,
    Output,
    Piece,
    RebalancingLine,
    ResponseRow,
    StateReadLine,
    TopicSubscriptionLine,
)
from group_coordinator.runtime.update_group import is_defect
from group_coordinator.tables.log_rows import arrow_rows, packed

RESPONSE, LOG, DEAD_LETTER, DEFECT = "R", "L", "D", "D!"
TOPIC_SUBSCRIPTION, AWAITED_MARKERS, METERS, REBALANCING, STATE_READ, DENIAL = (
    "T",
    "M",
    "N",
    "S",
    "G",
    "A",
)
"""The kinds. A defect is a dead letter too, whose reason is an internal error."""

OUTPUT = StructType(
    [
        StructField("kind", StringType()),
        StructField("key", StringType()),
        StructField("partition", IntegerType()),
        StructField("content", BinaryType()),
        StructField("count", IntegerType()),
    ]
)

ARROW_OUTPUT: pa.StructType = to_arrow_type(OUTPUT)
"""OUTPUT in Arrow's types."""

Row: TypeAlias = tuple[str, str | None, int | None, bytes | None, int]
"""A row of OUTPUT."""

# Rows of the log in one value: more would save nothing, and Spark gives a worker some hundreds of values at once.
_MOST_LOG_ROWS = 4_096
_MOST_LOG_BYTES = 1024 * 1024

_KINDS: dict[type[Output], str] = {
    TopicSubscriptionLine: TOPIC_SUBSCRIPTION,
    AwaitedMarkersLine: AWAITED_MARKERS,
    RebalancingLine: REBALANCING,
    StateReadLine: STATE_READ,
    DenialRow: DENIAL,
}

_encode = msgspec.json.Encoder().encode


class OutputLimits(NamedTuple):
    """Limits of the content of a task, and of a row of responses. Content beyond them becomes null."""

    task_bytes: int
    response_bytes: int


class OutputRows:
    """Builder of output rows from the outputs of a task's calls, in their order. `limits` None: no limits."""

    def __init__(self, limits: OutputLimits | None = None) -> None:
        self._limits = limits
        self.bytes = 0
        """Size of all outputs that were not taken."""
        self._bytes_given = 0
        self._rows: list[Row] = []
        self._log: list[LogRow] = []
        self._log_bytes = 0
        self._meters: Counter[str] = Counter()

    def __len__(self) -> int:
        """Return the number of rows, or an upper bound of it."""
        return len(self._rows) + bool(self._log) + bool(self._log or self._meters)

    def add(self, group_id: str, piece: Piece) -> None:
        responses: dict[int | None, list[bytes]] = {}
        for output in piece.outputs:
            if isinstance(output, LogRow):
                self._add_to_log(output)
            elif isinstance(output, ResponseRow):
                responses.setdefault(output.partition, []).append(output.value)
            else:
                self._rows.append((_kind_of(output), None, None, _encode(output), 1))
        # A row per partition, as a row has a single partition of the topic.
        for partition, values in responses.items():
            content = b"\n".join(values)
            self._rows.append((RESPONSE, group_id, partition, content, len(values)))
        self.bytes += piece.bytes

    def take(self) -> list[Row]:
        """Return all rows and remove them."""
        self._end_log_row()
        if self._meters:
            self._rows.append((METERS, None, None, _encode(self._meters), 1))
            self._meters = Counter()
        rows, self._rows, self.bytes = self._rows, [], 0
        return rows if self._limits is None else [self._within(row, *self._limits) for row in rows]

    def _within(self, row: Row, task_bytes: int, response_bytes: int) -> Row:
        kind, key, partition, content, count = row
        length = len(content or b"")
        # Null and no error: the driver then writes the batch by Spark, which runs the operator without limits.
        self._bytes_given += length
        if self._bytes_given > task_bytes or (kind == RESPONSE and length > response_bytes):
            return kind, key, partition, None, count
        return row

    def _add_to_log(self, row: LogRow) -> None:
        self._log.append(row)
        self._log_bytes += len(row.key) + len(row.value or b"")
        if len(self._log) >= _MOST_LOG_ROWS or self._log_bytes >= _MOST_LOG_BYTES:
            self._end_log_row()

    def _end_log_row(self) -> None:
        if not self._log:
            return
        content = packed(arrow_rows(self._log))
        self._rows.append((LOG, None, None, content, len(self._log)))
        self._meters += counted(self._log)
        self._log, self._log_bytes = [], 0


def _kind_of(output: Output) -> str:
    if isinstance(output, DeadLetterRow):
        return DEFECT if is_defect(output.reason) else DEAD_LETTER
    return _KINDS[type(output)]
