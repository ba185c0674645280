from __future__ import annotations

from struct import pack

from group_coordinator.runtime.packing import EventRow, loaded_snapshot, pack_load, unpack


def packed(offset: int, timestamp_ms: int, fault: int, size: int, value: bytes = b"") -> bytes:
    return pack(">iqqBi", 0, offset, timestamp_ms, fault, size) + value


def test_the_fault_of_a_key_is_said_in_words() -> None:
    records = [packed(7, -1, 1, 1, b"x"), packed(8, 2, 2, 1, b"y"), packed(9, 2, 3, 1, b"z")]

    assert list(unpack(records)) == [
        EventRow(-1, 0, 7, "the record's key is null", b"x"),
        EventRow(2, 0, 8, "the record's key is not UTF-8", b"y"),
        EventRow(2, 0, 9, "the record's key is longer than 32767 bytes", b"z"),
    ]


def test_no_value_is_not_an_empty_value() -> None:
    assert [row.value for row in unpack([packed(1, 0, 0, -1), packed(2, 0, 0, 0)])] == [None, b""]


def test_a_value_that_was_cut_says_how_long_it_is() -> None:
    rows = unpack([packed(1, 0, 0, 5, b"abcd"), packed(2, 0, 0, 4, b"abcd")])

    assert [row.cut_from for row in rows] == [5, None]


def test_a_load_is_no_event() -> None:
    load, event = pack_load(b"snapshot"), packed(0, 5, 0, 8, b"snapshot")

    assert loaded_snapshot([event, load]) == b"snapshot"
    assert loaded_snapshot([event]) is None
    assert list(unpack([event, load])) == [EventRow(5, 0, 0, None, b"snapshot")]
