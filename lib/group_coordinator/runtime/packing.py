"""One Kafka record in one binary value: the operator's cost is per column (the layout is big endian).

    partition 4 bytes | offset 8 | timestamp in ms 8 | key fault 1 | size of the value 4, -1: null | the value

Partition and offset come first, so that packed records sort as their events do. Of a value that is longer than
event.max.bytes only so much is there: a compressed batch of a few bytes may hold records of gigabytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from struct import Struct

import msgspec

from group_coordinator.codecs.fields import LONGEST_TEXT

HEADER = Struct(">iqqBi")
_FAULT_AT = 20

KEY_FAULTS = (
    None,
    "the record's key is null",
    "the record's key is not UTF-8",
    f"the record's key is longer than {LONGEST_TEXT} bytes",
)
"""By their code in the header."""

_LOAD = len(KEY_FAULTS)
"""In the place of a key fault: the value is a group's snapshot. No Kafka record comes with it, see source.py."""


class EventRow(msgspec.Struct, frozen=True, gc=False):
    """One Kafka record of the events topic, for one group.

    `key_fault` says why the record's key is no group id; None: it is one. `cut_from` is how many bytes Kafka has of a
    value whose beginning alone is here; None: all of it is.
    """

    timestamp_ms: int
    partition: int
    offset: int
    key_fault: str | None
    value: bytes | None
    cut_from: int | None = None


def pack_load(snapshot: bytes) -> bytes:
    """What gives a group without a state one to begin with; it is no event."""
    return HEADER.pack(0, 0, 0, _LOAD, len(snapshot)) + snapshot


def loaded_snapshot(packed: Iterable[bytes]) -> bytes | None:
    """The snapshot of `pack_load` if there is one among the events."""
    loads = (record[HEADER.size :] for record in packed if record[_FAULT_AT] == _LOAD)
    return next(loads, None)


def unpack(packed: Iterable[bytes]) -> Iterator[EventRow]:
    """Event rows, in the order of the packed ones."""
    for record in packed:
        partition, offset, timestamp_ms, fault, size = HEADER.unpack_from(record)
        if fault == _LOAD:
            continue
        value = None if size < 0 else record[HEADER.size :]
        cut_from = size if value is not None and len(value) < size else None
        yield EventRow(timestamp_ms, partition, offset, KEY_FAULTS[fault], value, cut_from)
