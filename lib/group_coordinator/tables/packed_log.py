"""Rows of coordinator_log as a worker hands them on: Arrow, packed into a binary value.

They pass through the JVM as bytes that nobody looks into. A worker imports this: nothing here needs Delta.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from msgspec import structs

from group_coordinator.codecs.fields import Int32, Int64
from group_coordinator.runtime.outputs import LogRow

_NUMBERS: dict[Any, pa.DataType] = {
    Int32: pa.int32(),
    Int32 | None: pa.int32(),
    Int64: pa.int64(),
    Int64 | None: pa.int64(),
}
_COLUMNS = pa.schema(
    [(field.encode_name, _NUMBERS.get(field.type, pa.string())) for field in structs.fields(LogRow)]
)
_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)


def arrow_rows(rows: Sequence[LogRow]) -> pa.RecordBatch:
    """The rows in columns; there must be at least one."""
    columns = zip(*map(structs.astuple, rows), strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, _COLUMNS, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_COLUMNS)


def packed(rows: pa.RecordBatch) -> bytes:
    """The rows as one binary value: a stream of Arrow's, with LZ4."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=_OPTIONS) as stream:
        stream.write_batch(rows)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def unpacked(content: bytes) -> Iterator[pa.RecordBatch]:
    """What was packed."""
    yield from pa.ipc.open_stream(content)
