"""Fetches as bare frames: a client that takes no time for what it reads."""

from __future__ import annotations

import socket
import struct

from group_coordinator.codecs import wire

TOPIC = "relayed"
VERSION = 11
"""The last of Fetch that a broker takes without a session's or a topic's id."""
FETCH_BYTES = 1024 * 1024
_SIZE = struct.Struct(">i")
_BATCH = struct.Struct(">qi")
"""The beginning of a batch: its first offset, and how many bytes follow."""
_COUNT = struct.Struct(">i")
_COUNT_AT = 57
_FIRST_BATCH = struct.Struct(">i")


def ask(offset: int, wait_ms: int) -> bytes:
    """A Fetch of a megabyte of partition 0."""
    partition = {"partition": 0, "fetchOffset": offset, "partitionMaxBytes": FETCH_BYTES}
    body = {
        "maxWaitMs": wait_ms,
        "minBytes": 1,
        "maxBytes": FETCH_BYTES,
        "topics": [{"topic": TOPIC, "partitions": [partition]}],
    }
    return wire.request("Fetch", VERSION, 1, "relay", body)


def read_frame(connection: socket.socket) -> bytes:
    """The next answer, without its size.

    Raises:
        ConnectionError: the gateway hung up.
    """
    [size] = _SIZE.unpack(_exactly(connection, _SIZE.size))
    return bytes(_exactly(connection, size))


def batches_at(frame: bytes) -> int:
    """Where the records of an answer begin: behind the fields of VERSION for one topic and one partition."""
    head = 4 + 4 + 2 + 4  # correlation id, throttle time, error, session
    topics = 4 + 2 + len(TOPIC)
    partition = (
        4 + 4 + 2 + 8 + 8 + 8 + 4 + 4
    )  # count, index, error, three offsets, aborted, replica
    at = head + topics + partition
    [records_bytes] = _FIRST_BATCH.unpack_from(frame, at)
    if at + 4 + records_bytes != len(frame):
        raise AssertionError(f"not one partition's records: {frame[:80].hex()}")
    return at + 4


def counted(frame: bytes) -> tuple[int, int]:
    """How many records whole batches of an answer have, and the offset behind them; 0 if there are none."""
    at, records, behind = batches_at(frame), 0, 0
    while at + _COUNT_AT + _COUNT.size <= len(frame):
        first, size = _BATCH.unpack_from(frame, at)
        if at + _BATCH.size + size > len(frame):
            break
        [count] = _COUNT.unpack_from(frame, at + _COUNT_AT)
        records, behind = records + count, first + count
        at += _BATCH.size + size
    return records, behind


def _exactly(connection: socket.socket, count: int) -> bytearray:
    received, at = bytearray(count), 0
    view = memoryview(received)
    while at < count:
        here = connection.recv_into(view[at:])
        if here == 0:
            raise ConnectionError("the gateway hung up")
        at += here
    return received
