"""One Kafka record in one binary value: the operator's cost is per column (the layout is big endian).

    partition 4 bytes | offset 8 | timestamp in ms 8 | key fault 1 | has a value 1 | the value

Partition and offset come first, so that packed records sort as their events do.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct

import msgspec

HEADER = Struct(">iqqBB")
_FAULT_AT = 20

KEY_FAULTS = (None, "the record's key is null", "the record's key is not UTF-8")
"""By their code in the header."""

_LOAD = len(KEY_FAULTS)
"""In the place of a key fault: the value is a group's snapshot. No Kafka record comes with it, see source.py."""


class EventRow(msgspec.Struct, frozen=True, gc=False):
    """One Kafka record of the events topic, for one group.

    `key_fault` says why the record's key is no group id; None: it is one.
    """

    timestamp_ms: int
    partition: int
    offset: int
    key_fault: str | None
    value: bytes | None


def pack_load(snapshot: bytes) -> bytes:
    """What gives a group without a state one to begin with; it is no event."""
    return HEADER.pack(0, 0, 0, _LOAD, 1) + snapshot


def loaded_snapshot(packed: Iterable[bytes]) -> bytes | None:
    """The snapshot of `pack_load` if there is one among the events."""
    loads = (record[HEADER.size :] for record in packed if record[_FAULT_AT] == _LOAD)
    return next(loads, None)


def unpack(packed: Iterable[bytes]) -> list[EventRow]:
    """Event rows, sorted by partition and offset."""
    rows = []
    for record in sorted(packed):
        partition, offset, timestamp_ms, fault, has_value = HEADER.unpack_from(record)
        if fault == _LOAD:
            continue
        value = record[HEADER.size :] if has_value else None
        rows.append(EventRow(timestamp_ms, partition, offset, KEY_FAULTS[fault], value))
    return rows
