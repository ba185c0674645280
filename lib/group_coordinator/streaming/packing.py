"""One Kafka record in one binary value: the operator's cost is per column (the layout is big endian).

    partition 4 bytes | offset 8 | timestamp in ms 8 | key fault 1 | has a value 1 | the value

Partition and offset come first, so that packed records sort as their events do.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct

from group_coordinator.streaming.update_group import EventRow

HEADER = Struct(">iqqBB")

KEY_FAULTS = (None, "the record's key is null", "the record's key is not UTF-8")
"""By their code in the header."""


def unpack(packed: Iterable[bytes]) -> list[EventRow]:
    """Event rows, sorted by partition and offset."""
    return [_event_row(record) for record in sorted(packed)]


def _event_row(record: bytes) -> EventRow:
    partition, offset, timestamp_ms, fault, has_value = HEADER.unpack_from(record)
    return EventRow(
        timestamp_ms,
        partition,
        offset,
        KEY_FAULTS[fault],
        record[HEADER.size :] if has_value else None,
    )
