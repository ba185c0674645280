from __future__ import annotations

from itertools import product
from struct import pack

import pytest

from group_coordinator.runtime.outputs import EventRow, pack_seed, seed_of, unpack


def packed(offset: int, timestamp_ms: int, kind: int, size: int, value: bytes = b"") -> bytes:
    return pack(">iqqBi", 0, offset, timestamp_ms, kind, size) + value


def test_the_fault_of_a_key_is_said_in_words() -> None:
    records = [packed(7, -1, 6, 1, b"x"), packed(8, 2, 7, 1, b"y"), packed(9, 2, 8, 1, b"z")]

    assert list(unpack(records)) == [
        EventRow(-1, 0, 7, "the record's key is null", b"x"),
        EventRow(2, 0, 8, "the record's key is not UTF-8", b"y"),
        EventRow(2, 0, 9, "the record's key is longer than 32767 bytes", b"z"),
    ]


def test_no_value_is_not_an_empty_value() -> None:
    assert [row.value for row in unpack([packed(1, 0, 5, -1), packed(2, 0, 5, 0)])] == [None, b""]


def test_a_value_that_was_cut_says_how_long_it_is() -> None:
    rows = unpack([packed(1, 0, 5, 5, b"abcd"), packed(2, 0, 5, 4, b"abcd")])

    assert [row.cut_from for row in rows] == [5, None]


def test_a_seed_is_no_event() -> None:
    seed, event = pack_seed(b"snapshot"), packed(0, 5, 5, 8, b"snapshot")

    assert seed_of([seed, event]) == b"snapshot"
    assert seed_of([event]) is None
    assert seed_of([]) is None
    assert list(unpack([seed, event])) == [EventRow(5, 0, 0, None, b"snapshot")]


def test_a_seed_in_the_files_of_a_rebuilt_checkpoint_keeps_its_layout() -> None:
    assert pack_seed(b"snapshot") == bytes(20) + b"\x04\x00\x00\x00\x08snapshot"


@pytest.mark.parametrize("snapshot", [b"", b"\xff" * 300])
def test_a_seed_sorts_before_every_event(snapshot: bytes) -> None:
    seed = pack_seed(snapshot)
    first_of_all = [
        packed(0, timestamp_ms, kind, size)
        for timestamp_ms, kind, size in product((0, 1, -1), (5, 6, 7, 8), (-1, 0))
    ]

    assert [seed < event for event in first_of_all] == [True] * 24
