"""The lean exchange: rows between Spark's JVM and the Python worker without pandas objects for every group.

The JVM sends Arrow batches: the rows of many groups, and in a last column one entry a group, with its state, its timer
and the place of its rows. It expects batches of output rows and of states to be written back. In stock PySpark a private
class, `ApplyInPandasWithStateSerializer`, does both ends. For each group it cuts the batch, makes a pandas Series of each
column, parses the state's schema and makes a GroupState; the outputs and the state of each group become pandas frames,
which are concatenated and made into Arrow again. That takes most of a worker's time.

Here a batch becomes Python lists at once, a group is a slice of them, and outputs and states are collected in lists
until they fill an Arrow batch. What the JVM sends and gets is the same. Groups that stay as they are send no state.

A LeanOperator takes the place of the stateful function. A worker that unpickles one replaces the two methods of the
serializer; a task of any other function in the same worker still takes the stock ones.

The layout and the class are PySpark's own and may change with each version, so `exchange = auto` takes the lean exchange
with the tested versions alone, and the stock one, which does the same more slowly, with all others. The test is
tests/spark/test_exchange.py: the same events with both exchanges give the same lines, states and timers.
"""

from __future__ import annotations

import io
import logging
import pickle
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import IO, Any, Literal, NoReturn

import msgspec
import pyarrow as pa
import pyspark
from pyspark.serializers import SpecialLengths, write_int
from pyspark.sql.pandas.serializers import ApplyInPandasWithStateSerializer, ArrowStreamSerializer

from group_coordinator.runtime.call_events import SortedEvents
from group_coordinator.runtime.group_call import (
    OperatorInput,
    OperatorResult,
    StoredState,
    call_group,
)
from group_coordinator.runtime.update_group import UpdateContext
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.operator.batch_context import in_this_task

TESTED_VERSIONS = ("4.0.4",)
"""The versions of PySpark whose layout this is."""

_MOST_CHARACTERS = 16 * 1024 * 1024
"""Of output in one Arrow batch; Spark limits rows alone, and a row is many lines."""

_NO_TIMESTAMP = -1

Exchange = Literal["stock", "lean"]

_log = logging.getLogger(__name__)

_stock_load_stream: Callable[..., Any] = ApplyInPandasWithStateSerializer.load_stream
_stock_dump_stream: Callable[..., Any] = ApplyInPandasWithStateSerializer.dump_stream
_next_task: list[UpdateContext] = []
"""That of the task which is about to begin, if it takes the lean exchange."""


def chosen_exchange(job: JobSettings) -> Exchange:
    """The exchange that the setting means with the PySpark that runs."""
    if job.exchange != "auto":
        return job.exchange
    tested = pyspark.__version__ in TESTED_VERSIONS
    exchange: Exchange = "lean" if tested else "stock"
    known = "known" if tested else "not known"
    _log.info("exchange = %s: PySpark %s is %s to it", exchange, pyspark.__version__, known)
    return exchange


class LeanOperator:
    """The stateful function as Spark pickles it; its unpickling switches a worker's task to the lean exchange."""

    def __init__(self, operator: Callable[..., Any], context: UpdateContext) -> None:
        self._operator = operator
        self._context = context

    def __call__(self, *arguments: Any) -> NoReturn:
        """Spark asks for a callable; it calls what `__reduce__` makes of it."""
        raise NotImplementedError("a LeanOperator is called in a Python worker only")

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _unpickled, (self._operator, self._context)


def _unpickled(operator: Callable[..., Any], context: UpdateContext) -> Callable[..., Any]:
    _next_task[:] = [in_this_task(context)]
    setattr(ApplyInPandasWithStateSerializer, "load_stream", _load_stream)  # noqa: B010 - mypy
    setattr(ApplyInPandasWithStateSerializer, "dump_stream", _dump_stream)  # noqa: B010 - mypy
    return operator


class _LeanInput:
    """The task's input between load_stream and dump_stream; PySpark sees an input without groups."""

    def __init__(self, stream: IO[bytes], context: UpdateContext) -> None:
        self.stream = stream
        self.context = context


def _load_stream(serializer: Any, stream: IO[bytes]) -> Iterator[Any]:
    if not _next_task:
        serializer.lean_input = None
        return iter(_stock_load_stream(serializer, stream))
    serializer.lean_input = _LeanInput(stream, _next_task.pop())
    return iter(())


def _dump_stream(serializer: Any, iterator: Iterator[Any], stream: IO[bytes]) -> None:
    lean_input = serializer.lean_input
    if lean_input is None:
        _stock_dump_stream(serializer, iterator, stream)
        return
    batches = _answered(serializer, lean_input)
    ArrowStreamSerializer.dump_stream(serializer, _announced(batches, stream), stream)


def _announced(batches: Iterator[pa.RecordBatch], stream: IO[bytes]) -> Iterator[pa.RecordBatch]:
    """Send the number that must come before the first batch; without it the JVM reads an error."""
    for number, batch in enumerate(batches):
        if number == 0:
            write_int(SpecialLengths.START_ARROW_STREAM, stream)
        yield batch


def _answered(serializer: Any, lean_input: _LeanInput) -> Iterator[pa.RecordBatch]:
    output = _Output(serializer)
    for received in _received(lean_input):
        result = call_group(received.given, lean_input.context)
        for text in result.texts:
            output.add(text)
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
    """A group as the JVM sent it."""

    given: OperatorInput
    properties: _Properties
    key_row: bytes


def _received(lean_input: _LeanInput) -> Iterator[_Received]:
    """The groups of all batches; a large group comes in several chunks, and the first one has its state."""
    new_events = partial(SortedEvents, scratch=lean_input.context.scratch)
    packed = new_events()
    for batch in pa.ipc.open_stream(lean_input.stream):
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
                packed = new_events()


def _group(
    group_id: str, properties: str, key_row: bytes, pickled: bytes | None, packed: SortedEvents
) -> _Received:
    parsed = _decode_properties(properties)
    stored = StoredState(*_StateUnpickler(io.BytesIO(pickled)).load()) if pickled else None
    given = OperatorInput(
        group_id,
        stored,
        packed,
        parsed.batch_processing_time_ms,
        parsed.has_timed_out,
    )
    return _Received(given, parsed, key_row)


class _StateUnpickler(pickle.Unpickler):
    """Reads the state as a plain tuple; PySpark would parse the JSON of its schema for every group."""

    def find_class(self, module: str, name: str) -> Any:
        try:
            return _PICKLED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"{module}.{name} is not expected in a state") from None


def _row(*values: object) -> tuple[object, ...]:
    return values


_PICKLED: dict[tuple[str, str], Callable[..., Any]] = {
    ("pyspark.sql.types", "_parse_datatype_json_string"): lambda text: text,
    ("pyspark.sql.types", "_create_row_inbound_converter"): lambda _: _row,
    ("__builtin__", "bytearray"): lambda text, encoding: text.encode(encoding),
}


class _Output:
    """What goes back to the JVM: output rows, and the states to be written."""

    def __init__(self, serializer: Any) -> None:
        self._most_rows: int = serializer.arrow_max_records_per_batch
        self._counts_type: pa.StructType = serializer.result_count_pdf_arrow_type
        self._states_type: pa.StructType = serializer.result_state_pdf_arrow_type
        text_type = self._states_type.field("properties").type
        self._data_type = pa.struct([pa.field("lines", text_type)])
        self._begin()

    def _begin(self) -> None:
        self._texts: list[tuple[str]] = []
        self._states: list[tuple[bytes, bytes, bytes | None, int]] = []
        self._characters = 0

    def add(self, text: str) -> None:
        """An output row."""
        self._texts.append((text,))
        self._characters += len(text)

    def write(self, received: _Received, result: OperatorResult) -> None:
        """Add a state row. A group that stays as it is needs none: the JVM changes only the groups that have one."""
        self._states.append(_state_row(received, result))

    @property
    def is_full(self) -> bool:
        """Whether it must be sent before more is added."""
        return self._rows >= self._most_rows or self._characters >= _MOST_CHARACTERS

    @property
    def is_empty(self) -> bool:
        return self._rows == 0

    @property
    def _rows(self) -> int:
        return max(len(self._texts), len(self._states))

    def flushed(self) -> pa.RecordBatch:
        """All as one Arrow batch; its first row says how many rows of the other two columns are filled."""
        rows = self._rows
        counts = [(len(self._texts), len(self._states))]
        columns = [
            _struct_array(counts, self._counts_type, rows),
            _struct_array(self._texts, self._data_type, rows),
            _struct_array(self._states, self._states_type, rows),
        ]
        self._begin()
        return pa.RecordBatch.from_arrays(columns, ["_0", "_1", "_2"])


def _state_row(
    received: _Received, result: OperatorResult
) -> tuple[bytes, bytes, bytes | None, int]:
    """In the order of PySpark's result_state_df_type, as GroupState would have it at the end of the call."""
    properties, state = received.properties, result.state
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
