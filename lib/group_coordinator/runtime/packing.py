"""The packing of a Kafka record into one binary value, big endian. The operator's cost is per column, so there is one column.

    partition 4 bytes | offset 8 | timestamp in ms 8 | kind 1 | size of the value 4, -1: null | the value

Partition and offset are first, so packed records sort like their events. A value that is longer than event.max.bytes is cut to
that size: a compressed batch of a few bytes may hold records of gigabytes.

After a rebuild a group begins with a seed: a snapshot, packed like a record (streaming/rebuild). The seed sorts before all events.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from struct import Struct

import msgspec

from group_coordinator.codecs.fields import LONGEST_TEXT

HEADER = Struct(">iqqBi")
_KIND_AT = 20

SEED, EVENT, ABSENT_KEY, BAD_KEY, LONG_KEY = 4, 5, 6, 7, 8
"""The kinds: a seed, an event, and events whose keys are not group ids.

The seed has the lowest number, and zeros before it, as the first event of partition 0 may have zeros too. The number is in the
files of rebuilt checkpoints, so it stays 4.
"""

KEY_FAULTS = {
    ABSENT_KEY: "the record's key is null",
    BAD_KEY: "the record's key is not UTF-8",
    LONG_KEY: f"the record's key is longer than {LONGEST_TEXT} bytes",
}


class EventRow(msgspec.Struct, frozen=True, gc=False):
    """A Kafka record of the events topic, for a group.

    `key_fault` is the reason why the record's key is not a group id; None: it is a group id. `cut_from` is the size of a value
    before it was cut; None: it was not cut.
    """

    timestamp_ms: int
    partition: int
    offset: int
    key_fault: str | None
    value: bytes | None
    cut_from: int | None = None


def pack_seed(snapshot: bytes) -> bytes:
    """Pack the seed of a group that begins with this snapshot."""
    return HEADER.pack(0, 0, 0, SEED, len(snapshot)) + snapshot


def seed_of(packed: Iterable[bytes]) -> bytes | None:
    """Return the snapshot with which a group begins, or None. `packed` is sorted, so a seed is the first record."""
    first = next(iter(packed), None)
    if first is None or first[_KIND_AT] != SEED:
        return None
    return first[HEADER.size :]


def unpack(packed: Iterable[bytes]) -> Iterator[EventRow]:
    """Unpack records to event rows, in the same order. A seed is skipped."""
    for record in packed:
        partition, offset, timestamp_ms, kind, size = HEADER.unpack_from(record)
        # A seed is read by seed_of.
        if kind == SEED:
            continue
        value = None if size < 0 else record[HEADER.size :]
        # A cut value is shorter than the size that was packed with it.
        cut_from = size if value is not None and len(value) < size else None
        yield EventRow(
            timestamp_ms=timestamp_ms,
            partition=partition,
            offset=offset,
            key_fault=KEY_FAULTS.get(kind),
            value=value,
            cut_from=cut_from,
        )
