from __future__ import annotations

import io
import json
import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow as pa
import pytest
from pyspark.serializers import read_int

from group_coordinator.codecs import snapshots
from group_coordinator.runtime.group_call import STATE_VERSION
from group_coordinator.streaming.operator.lean_exchange import exchange_leanly
from group_coordinator.streaming.operator.output_rows import OutputRows
from group_coordinator.testing import GroupDriver
from tests.support.group_updates import update_context
from tests.support.task_serializer import task_serializer

CONTEXT = update_context(timers_suspended=True)
CHUNK = pa.struct(
    [
        *(("properties", pa.string()), ("key", pa.binary()), ("state", pa.binary())),
        *(("start", pa.int32()), ("rows", pa.int32()), ("is_last", pa.bool_())),
    ]
)
PROPERTIES = {
    "optionalValue": None,
    "batchProcessingTimeMs": 1_767_225_600_000,
    "eventTimeWatermarkMs": 0,
    "timeoutConf": "ProcessingTimeTimeout",
    "hasTimedOut": True,
    "watermarkPresent": False,
    "defined": True,
    "updated": False,
    "removed": False,
    "timeoutTimestamp": 1_767_225_599_000,
}
MEGABYTE = 1024 * 1024


@pytest.fixture
def large_state() -> bytes:
    driver = GroupDriver("g")
    driver.commit({"orders": dict.fromkeys(range(300), 7)}, metadata="m" * 4_000)
    return snapshots.dump(driver.group)


def groups_whose_timers_fired(names: list[str], snapshot: bytes) -> io.BytesIO:
    """As the JVM sends them: each with a row of nulls."""
    state = pickle.dumps((STATE_VERSION, snapshot))
    chunks = [
        (json.dumps(PROPERTIES), name.encode(), state, row, 1, True)
        for row, name in enumerate(names)
    ]
    columns = [
        pa.array(names, pa.string()),
        pa.nulls(len(names), pa.binary()),
        pa.StructArray.from_arrays(
            [
                pa.array(column, field.type)
                for column, field in zip(zip(*chunks, strict=True), CHUNK, strict=True)
            ],
            fields=list(CHUNK),
        ),
    ]
    batch = pa.RecordBatch.from_arrays(columns, ["group_id", "event", "__state"])
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, batch.schema) as writer:
        writer.write_batch(batch)
    stream.seek(0)
    return stream


@pytest.fixture
def exchanged() -> Iterator[Any]:
    """PySpark's class in a task that exchanges its rows leanly."""

    def function() -> None: ...

    serializer_class = task_serializer()
    before = serializer_class.load_stream, serializer_class.dump_stream
    exchange_leanly(function, CONTEXT, OutputRows())
    yield serializer_class
    assert (serializer_class.load_stream, serializer_class.dump_stream) == before


def batches_in(output: io.BytesIO) -> list[pa.RecordBatch]:
    """The batches that go back to the JVM."""
    output.seek(0)
    read_int(output)
    return list(pa.ipc.open_stream(output))


def test_a_thread_of_its_own_may_read_later_than_the_task_writes(
    exchanged: Any, large_state: bytes
) -> None:
    """As with spark.python.udf.pipelined.enabled of Spark 4.3."""
    output = io.BytesIO()
    with ThreadPoolExecutor(1) as threads:
        written = threads.submit(exchanged.dump_stream, None, iter(()), output)
        rows = exchanged.load_stream(None, groups_whose_timers_fired(["g"], large_state))
        with pytest.raises(RuntimeError, match="reads the input of a lean exchange"):
            next(rows)
        written.result(60)

    (batch,) = batches_in(output)
    assert batch.column("_0").to_pylist()[0] == {"dataCount": 0, "stateCount": 1}


def test_what_goes_back_at_once_is_bounded_by_the_bytes_of_states_too(
    exchanged: Any, large_state: bytes
) -> None:
    names = [f"g-{number}" for number in range(60)]
    output = io.BytesIO()

    rows = exchanged.load_stream(None, groups_whose_timers_fired(names, large_state))
    exchanged.dump_stream(None, rows, output)

    batches = batches_in(output)
    counts = [batch.column("_0")[0]["stateCount"].as_py() for batch in batches]
    keys = [
        row["keyRowAsUnsafe"].decode()
        for batch, count in zip(batches, counts, strict=True)
        for row in batch.column("_2").to_pylist()[:count]
    ]
    assert keys == names
    assert len(large_state) > MEGABYTE
    assert max(batch.nbytes for batch in batches) < 20 * MEGABYTE
