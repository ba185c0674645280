"""Rows of coordinator_log: packed by a worker, and converted to the table's columns, without access to single rows.

A worker imports this module: nothing here needs Delta. Constants of the job are added here, so that workers do not write them a
million times. The Spark schema of a line of JSON comes from the Struct that writes it (runtime/outputs.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, structs
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, IntegerType, LongType, StringType, StructField, StructType

from group_coordinator.codecs.fields import Int32, Int64
from group_coordinator.runtime.outputs import LogRow
from group_coordinator.tables.append import MOST_BYTES
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.definition import BATCH_ID, INGESTED_AT
from group_coordinator.tables.timestamps import FIRST_MS, LAST_MS

_NUMBERS: dict[Any, pa.DataType] = {
    Int32: pa.int32(),
    Int32 | None: pa.int32(),
    Int64: pa.int64(),
    Int64 | None: pa.int64(),
}
_PACKED_COLUMNS = pa.schema(
    [(field.encode_name, _NUMBERS.get(field.type, pa.string())) for field in structs.fields(LogRow)]
)
_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)


def arrow_rows(rows: Sequence[LogRow]) -> pa.RecordBatch:
    """Return the rows in columns; there must be a row."""
    columns = zip(*map(structs.astuple, rows), strict=True)
    arrays = [
        pa.array(column, field.type) for column, field in zip(columns, _PACKED_COLUMNS, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=_PACKED_COLUMNS)


def packed(rows: pa.RecordBatch) -> bytes:
    """Return the rows as a single binary value: an Arrow stream with LZ4."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=_OPTIONS) as stream:
        stream.write_batch(rows)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def unpacked(content: bytes) -> Iterator[pa.RecordBatch]:
    yield from pa.ipc.open_stream(content)


_OF_THE_BATCH = (BATCH_ID.name, INGESTED_AT.name)
_COLUMNS = StructType(
    [column for column in COORDINATOR_LOG.schema if column.name not in _OF_THE_BATCH]
)
_ARROW = pa.schema(
    [column for column in COORDINATOR_LOG.no_rows().schema if column.name not in _OF_THE_BATCH]
)


@dataclass(frozen=True, slots=True)
class LogOrigin:
    cluster_id: str
    source_topic: str

    def table_rows(self, contents: Iterable[bytes]) -> Iterator[pa.RecordBatch]:
        """Yield packed rows with the table's columns, except those of the batch."""
        for content in contents:
            for rows in unpacked(content):
                yield self._with_constants(rows)

    def _with_constants(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        count, no_text = rows.num_rows, pa.scalar(None, pa.string())
        # A fired timer has no event, so no source topic either.
        of_an_event = pc.is_valid(rows["source_offset"])
        derived = {
            "cluster_id": pa.repeat(pa.scalar(self.cluster_id), count),
            "event_time": _instants(rows["event_time_ms"]),
            "source_topic": pc.if_else(of_an_event, pa.scalar(self.source_topic), no_text),
            "inferred": pa.nulls(count, pa.bool_()),
            "source_topic_id": pa.nulls(count, pa.string()),
        }
        arrays = [derived[name] if name in derived else rows[name] for name in _ARROW.names]
        return pa.RecordBatch.from_arrays(arrays, schema=_ARROW)


@dataclass(frozen=True, slots=True)
class PackedRows:
    """Packed rows of the log: `packed` makes a DataFrame with them in one column; in the driver they are `here`, if at all."""

    spark: SparkSession
    packed: Callable[[], DataFrame]
    packed_bytes: int
    origin: LogOrigin
    here: Sequence[bytes] | None = None

    @property
    def fits_the_driver(self) -> bool:
        """True if the driver may hold them as they are packed: it unpacks one value after the other."""
        return self.packed_bytes <= MOST_BYTES

    def arrow(self) -> pa.RecordBatchReader:
        contents: Iterable[bytes] = self.here or ()
        if self.here is None:
            contents = (content.as_py() for content in self.packed().toArrow().column(0))
        return pa.RecordBatchReader.from_batches(_ARROW, self.origin.table_rows(contents))

    def frame(self) -> DataFrame:
        origin = self.origin

        def unpack(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                yield from origin.table_rows(content.as_py() for content in batch.column(0))

        return self.packed().mapInArrow(unpack, _COLUMNS)


def _instants(milliseconds: pa.Array) -> pa.Array:
    # Times that no calendar has become the nearest possible time, as in line_schema.instant.
    shown = pc.min_element_wise(pc.max_element_wise(milliseconds, FIRST_MS), LAST_MS)
    return shown.cast(pa.timestamp("ms", "UTC")).cast(_ARROW.field("event_time").type)


def instant(milliseconds: Column) -> Column:
    """Convert milliseconds to a timestamp, and null to null; a plain cast would fail the query."""
    shown = F.least(F.greatest(milliseconds, F.lit(FIRST_MS)), F.lit(LAST_MS))
    return F.when(milliseconds.isNotNull(), F.timestamp_millis(shown))


_SPARK_NUMBERS: dict[Any, DataType] = {
    Int32: IntegerType(),
    Int32 | None: IntegerType(),
    Int64: LongType(),
    Int64 | None: LongType(),
}


def line_schema(row: type[Struct]) -> StructType:
    """Return the schema of a line: numbers by their size, and text for all else, even for an object inside the line."""
    return StructType(
        [
            StructField(field.encode_name, _SPARK_NUMBERS.get(field.type, StringType()))
            for field in structs.fields(row)
        ]
    )
