"""The lean exchange: rows between Spark's JVM and the Python worker without pandas objects for every group.

The JVM sends Arrow batches: the rows of many groups, and in a last column one entry per group, with its state, its timer and the
place of its rows. It expects batches of output rows and of states in return. Stock PySpark does this in a private class,
`ApplyInPandasWithStateSerializer`, and since 4.3 in a function of its worker. It makes a pandas Series of each column of a group, a
GroupState, and frames of its outputs, which takes most of a worker's time. Here a batch becomes Python lists at once, a group is a
slice of them, and outputs and states are collected in lists until they fill an Arrow batch. Unchanged groups send no state.

The layout and the class are private to PySpark and may change with each version: known_pyspark.py lists the known versions, and
worker_function.py uses the stock exchange with all others. tests/spark/test_exchange.py compares the two.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from typing import IO, Any, NoReturn

import msgspec
import pyarrow as pa
from pyspark.serializers import SpecialLengths, write_int
from pyspark.sql.pandas import serializers

from group_coordinator.runtime.group_call import (
    OperatorInput,
    OperatorResult,
    SortedEvents,
    StoredState,
    call_group,
)
from group_coordinator.runtime.outputs import Piece
from group_coordinator.runtime.update_group import UpdateContext
from group_coordinator.runtime.what_if import ScratchFolder
from group_coordinator.streaming.operator.output_rows import ARROW_OUTPUT, OutputRows
from group_coordinator.streaming.operator.worker_process import until_dropped

_MOST_ROWS = 2_000
"""Rows in one Arrow batch that is sent."""
# Bytes of outputs and states in it. A row has many outputs, and the timers of many large groups fire in one batch.
_MOST_BYTES = 16 * 1024 * 1024

_NO_TIMESTAMP = -1

_COUNTS = pa.struct([("dataCount", pa.int32()), ("stateCount", pa.int32())])
_STATES = pa.struct(
    [
        *(("properties", pa.string()), ("keyRowAsUnsafe", pa.binary())),
        *(("object", pa.binary()), ("oldTimeoutTimestamp", pa.int64())),
    ]
)
"""Layout of the first and the last column that is sent to the JVM."""


def exchange_leanly(function: Callable[..., Any], context: UpdateContext, rows: OutputRows) -> None:
    """Let the task that unpickled this function exchange its rows here; called in a worker, before the task's rows are read.

    The class of its serializer has other methods until the task begins to read and to write, or until Spark drops the function.
    """
    serializer_class = _class_of_the_task()
    read, write = serializer_class.load_stream, serializer_class.dump_stream
    # With spark.python.udf.pipelined.enabled the loading thread may start later than the dumping thread.
    sources: SimpleQueue[IO[bytes]] = SimpleQueue()

    def load_stream(_: Any, stream: IO[bytes]) -> Iterator[Any]:
        serializer_class.load_stream = read
        sources.put(stream)
        return iter(_read_here, None)

    def dump_stream(_: Any, __: Iterator[Any], stream: IO[bytes]) -> None:
        serializer_class.dump_stream = write
        batches = _answered(sources.get(), context, _Output(rows))
        serializers.ArrowStreamSerializer().dump_stream(_announced(batches, stream), stream)

    # PySpark looks the two methods up on the class after it has unpickled the function.
    serializer_class.load_stream, serializer_class.dump_stream = load_stream, dump_stream
    until_dropped(function, setattr, serializer_class, "load_stream", read)
    until_dropped(function, setattr, serializer_class, "dump_stream", write)


def _class_of_the_task() -> Any:
    # PySpark calls `load_stream` and `dump_stream` of this class next, once each.
    until_4_2 = getattr(serializers, "ApplyInPandasWithStateSerializer", None)
    return until_4_2 or serializers.ArrowStreamSerializer


def _read_here() -> NoReturn:
    # With an empty input the groups of the task would be lost, so the run must fail.
    raise RuntimeError("PySpark reads the input of a lean exchange")


def _announced(batches: Iterator[pa.RecordBatch], stream: IO[bytes]) -> Iterator[pa.RecordBatch]:
    # The JVM expects this number before the first batch, and otherwise reads an error.
    for number, batch in enumerate(batches):
        if number == 0:
            write_int(SpecialLengths.START_ARROW_STREAM, stream)
        yield batch


def _answered(
    source: IO[bytes], context: UpdateContext, output: _Output
) -> Iterator[pa.RecordBatch]:
    for received in _received(pa.ipc.open_stream(source), context.scratch):
        result = call_group(received.given, context)
        for piece in result.pieces:
            output.add(received.given.group_id, piece)
            if output.is_full:
                yield output.flushed()
        if result.write:
            output.write(received, result)
            if output.is_full:
                yield output.flushed()
    if not output.is_empty:
        yield output.flushed()


class _Properties(msgspec.Struct, rename="camel"):
    """The JVM's view of a group's state, in its order."""

    optional_value: None
    batch_processing_time_ms: int
    event_time_watermark_ms: int
    timeout_conf: str
    has_timed_out: bool
    watermark_present: bool
    defined: bool
    updated: bool
    removed: bool
    timeout_timestamp: int


_decode_properties = msgspec.json.Decoder(_Properties).decode
_encode_properties = msgspec.json.Encoder().encode


class _Received(msgspec.Struct, frozen=True):
    given: OperatorInput
    properties: _Properties
    key_row: bytes


def _received(batches: Iterator[pa.RecordBatch], scratch: ScratchFolder) -> Iterator[_Received]:
    # A large group comes in several chunks, each with the state.
    packed = SortedEvents(scratch=scratch)
    for batch in batches:
        events = batch.column("event").to_pylist()
        groups = batch.column("group_id")
        chunks = batch.column(batch.num_columns - 1).flatten()
        rows = zip(*(column.to_pylist() for column in chunks), strict=True)
        for properties, key_row, pickled, start, count, is_last in rows:
            if properties is None:  # fewer chunks than events
                break
            if events[start] is not None:  # a group that timed out comes with a row of nulls
                packed.add(events[start : start + count])
            if is_last:
                yield _group(groups[start].as_py(), properties, key_row, pickled, packed)
                packed = SortedEvents(scratch=scratch)


def _group(
    group_id: str, properties: str, key_row: bytes, pickled: bytes | None, packed: SortedEvents
) -> _Received:
    parsed = _decode_properties(properties)
    stored = StoredState(*_StateUnpickler(io.BytesIO(pickled)).load()) if pickled else None
    given = OperatorInput(
        group_id, stored, packed, parsed.batch_processing_time_ms, parsed.has_timed_out
    )
    return _Received(given, parsed, key_row)


class _StateUnpickler(pickle.Unpickler):
    """Reads the state as a plain tuple; PySpark would parse the JSON of its schema for every group."""

    def find_class(self, module: str, name: str) -> Any:
        try:
            return _PICKLED[module, name]
        except KeyError:
            # A state must not be able to run any other code.
            raise pickle.UnpicklingError(f"{module}.{name} is not expected in a state") from None


_PICKLED: dict[tuple[str, str], Callable[..., Any]] = {
    ("pyspark.sql.types", "_parse_datatype_json_string"): lambda text: text,
    ("pyspark.sql.types", "_create_row_inbound_converter"): lambda _: lambda *values: values,
    ("__builtin__", "bytearray"): lambda text, encoding: text.encode(encoding),
    ("builtins", "bytes"): bytes,  # since PySpark 4.1
}


class _Output:
    """The data that returns to the JVM: output rows and states."""

    def __init__(self, rows: OutputRows) -> None:
        self._rows = rows
        self._states: list[tuple[bytes, bytes, bytes | None, int]] = []
        self._state_bytes = 0

    def add(self, group_id: str, piece: Piece) -> None:
        self._rows.add(group_id, piece)

    def write(self, received: _Received, result: OperatorResult) -> None:
        """Add a state row. An unchanged group needs none: the JVM changes only groups with a row."""
        self._states.append(_state_row(received, result))
        self._state_bytes += 0 if result.state is None else len(result.state.snapshot)

    @property
    def is_full(self) -> bool:
        """True if the batch must be sent before more is added."""
        return self._length >= _MOST_ROWS or self._rows.bytes + self._state_bytes >= _MOST_BYTES

    @property
    def is_empty(self) -> bool:
        return self._length == 0

    @property
    def _length(self) -> int:
        return max(len(self._rows), len(self._states))

    def flushed(self) -> pa.RecordBatch:
        """Return all rows as a single Arrow batch. Its first row has the numbers of filled rows in the other two columns."""
        rows, states = self._rows.take(), self._states
        self._states, self._state_bytes = [], 0
        length = max(len(rows), len(states))
        counts = [(len(rows), len(states))]
        columns = [
            _struct_array(counts, _COUNTS, length),
            _struct_array(rows, ARROW_OUTPUT, length),
            _struct_array(states, _STATES, length),
        ]
        return pa.RecordBatch.from_arrays(columns, ["_0", "_1", "_2"])


def _state_row(
    received: _Received, result: OperatorResult
) -> tuple[bytes, bytes, bytes | None, int]:
    """Return a row in the order of _STATES, as GroupState would have it at the end of the call."""
    properties, state = received.properties, result.state
    # The JVM reads these flags to decide between an update and a removal.
    properties.defined = properties.updated = state is not None
    properties.removed = state is None
    if result.timeout_ms is not None:
        properties.timeout_timestamp = properties.batch_processing_time_ms + result.timeout_ms
    pickled = None if state is None else pickle.dumps(tuple(state))
    return _encode_properties(properties), received.key_row, pickled, _NO_TIMESTAMP


def _struct_array(rows: Sequence[tuple[Any, ...]], kind: pa.StructType, length: int) -> pa.Array:
    missing = [None] * (length - len(rows))
    values = zip(*rows, strict=True) if rows else [()] * kind.num_fields
    fields = list(kind)
    arrays = [
        pa.array([*column, *missing], field.type)
        for column, field in zip(values, fields, strict=True)
    ]
    return pa.StructArray.from_arrays(arrays, fields=fields)
