"""What tests/gateway_faults holds against a gateway, without one."""

from __future__ import annotations

import struct
from base64 import b64encode

from group_coordinator.codecs import wire
from tests.gateway_faults.frames import TOPIC, VERSION, counted
from tests.gateway_faults.readers import Group

OVERHEAD = 12
"""Bytes of a batch that its size does not count."""


def batch(first: int, count: int) -> bytes:
    data = bytearray(100)
    struct.pack_into(">qi", data, 0, first, len(data) - OVERHEAD)
    struct.pack_into(">i", data, 57, count)
    return bytes(data)


def test_what_was_read_again_above_the_last_commit_is_no_fault() -> None:
    group = Group("g")
    for offset in (0, 1, 2):
        group.has_read(0, offset)
    group.has_committed({0: 2})
    group.has_read(0, 2)

    assert (group.below_commits, group.repeat_count, group.count()) == ([], 1, 3)

    group.has_read(0, 1)

    assert group.below_commits == ["g: 0 at 1"]


def test_whole_batches_count_and_the_cut_one_does_not() -> None:
    records = batch(5, 3) + batch(8, 10) + batch(18, 4)[:50]
    partition = {
        "partitionIndex": 0,
        "abortedTransactions": None,
        "records": b64encode(records).decode(),
    }
    topics = {"responses": [{"topic": TOPIC, "partitions": [partition]}]}
    answer = wire.response("Fetch", VERSION, 1, topics)

    assert counted(answer[4:]) == (13, 18)
