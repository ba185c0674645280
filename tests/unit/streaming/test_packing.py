from __future__ import annotations

from struct import pack

from group_coordinator.streaming.packing import EventRow, loaded_snapshot, pack_load, unpack


def packed(partition: int, offset: int, timestamp_ms: int, rest: bytes) -> bytes:
    return pack(">iqq", partition, offset, timestamp_ms) + rest


def test_events_come_in_the_order_of_partition_and_offset() -> None:
    records = [
        packed(1, 0, 5, b"\x00\x01d"),
        packed(0, 256, 5, b"\x00\x01c"),
        packed(0, 255, 9, b"\x00\x01b"),
        packed(0, 2, 9, b"\x00\x01a"),
    ]

    assert [row.value for row in unpack(records)] == [b"a", b"b", b"c", b"d"]


def test_the_fault_of_a_key_is_said_in_words() -> None:
    assert unpack([packed(0, 7, -1, b"\x01\x01x"), packed(0, 8, 2, b"\x02\x01y")]) == [
        EventRow(-1, 0, 7, "the record's key is null", b"x"),
        EventRow(2, 0, 8, "the record's key is not UTF-8", b"y"),
    ]


def test_no_value_is_not_an_empty_value() -> None:
    assert [row.value for row in unpack([packed(0, 1, 0, b"\x00\x00")])] == [None]
    assert [row.value for row in unpack([packed(0, 1, 0, b"\x00\x01")])] == [b""]


def test_a_load_is_no_event() -> None:
    load, event = pack_load(b"snapshot"), packed(0, 0, 5, b"\x00\x01snapshot")

    assert loaded_snapshot([event, load]) == b"snapshot"
    assert loaded_snapshot([event]) is None
    assert unpack([event, load]) == [EventRow(5, 0, 0, None, b"snapshot")]
