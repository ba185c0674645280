"""The group state as bytes: it passes a group from one call of the operator to the next.

The layout is positional msgpack. Every change of it, also in core's values, needs a new SCHEMA_VERSION, and an entry in
UPCASTERS that converts the version before. tests/golden keeps the states that each version wrote.

Members, targets, owners and offsets are separate bytes inside, which are decoded when they are read: most events need few of them.
Committed offsets are in buckets of neighbouring partitions, with the number and ages of their offsets. Of pending offsets, some
end by any marker, and others depend on the markers' offsets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeAlias

from msgspec import Raw, Struct, msgpack

from group_coordinator.codecs.snapshots import classic, consumer
from group_coordinator.codecs.snapshots.classic import PackedClassicGroup
from group_coordinator.codecs.snapshots.consumer import (
    PackedConsumerGroup,
    SnapshotError,
    SnapshotVersionError,
    reader_of_a_part,
)
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.requests import Topic
from group_coordinator.core.model.stored_values import StoredValues
from group_coordinator.core.model.topic_offsets import (
    CommittedOffset,
    LastMarker,
    OffsetAges,
    OffsetBucket,
    PendingOffset,
    StoredTopic,
    TopicOffsets,
)

PackedBuckets: TypeAlias = dict[int, tuple[int, OffsetAges, Raw]]
"""Buckets by number: the number of offsets, their ages, and the offsets by partition."""

_encode = msgpack.Encoder().encode
_decode_buckets = msgpack.Decoder(PackedBuckets).decode
_decode_bucket = msgpack.Decoder(dict[int, CommittedOffset]).decode


def pack(offsets: StoredValues[TopicOffsets, StoredTopic]) -> dict[str, StoredTopic]:
    """Convert the offsets for encoding. Only changed buckets are encoded."""
    return offsets.stored(_packed)


def _packed(offsets: TopicOffsets) -> StoredTopic:
    # Most topics have few partitions: a single bucket needs no table of buckets.
    if len(offsets.buckets) == 1:
        ((number, bucket),) = offsets.buckets.items()
        return StoredTopic(bucket.size, offsets.ages, number, _encoded(bucket))
    buckets = {
        number: (bucket.size, offsets.ages_in(number), _encoded(bucket))
        for number, bucket in offsets.buckets.items()
    }
    return StoredTopic(offsets.size, offsets.ages, None, Raw(_encode(buckets)))


def _encoded(bucket: OffsetBucket) -> Raw:
    if bucket.encoded is None:
        bucket.encoded = Raw(_encode(bucket.offsets))
    return bucket.encoded


def unpack(packed: dict[str, StoredTopic]) -> StoredValues[TopicOffsets, StoredTopic]:
    """Convert decoded offsets. Buckets are decoded when they are read."""
    return StoredValues.unread(packed, _unpacked)


@reader_of_a_part
def _unpacked(topic: str, stored: StoredTopic) -> TopicOffsets:
    if stored.bucket is not None:
        bucket = OffsetBucket(stored.size, stored.ages, None, stored.encoded)
        return TopicOffsets({stored.bucket: bucket}, partial(_bucket, topic))
    buckets = {
        number: OffsetBucket(size, ages, None, encoded)
        for number, (size, ages, encoded) in _decode_buckets(stored.encoded).items()
    }
    return TopicOffsets(buckets, partial(_bucket, topic))


@reader_of_a_part
def _bucket(_topic: str, encoded: Raw) -> dict[int, CommittedOffset]:
    return _decode_bucket(encoded)


Waiting: TypeAlias = tuple[str, int, dict[int, tuple[CommittedOffset, int | None]]]
"""Topic, partition, and by producer id an offset that any marker of its producer ends, with its order."""


class PlacedTransactions(Struct, array_like=True, gc=False):
    """The data that depends on offsets of markers: pending offsets, and the last markers."""

    pending: list[tuple[str, int, int, PendingOffset]]
    """Pending offsets with topic, partition and producer id."""
    last_markers: dict[int, LastMarker]


def packed(group: Group) -> list[Waiting]:
    """Return the offsets that any marker ends."""
    found = []
    for (topic, partition), producers in sorted(group.pending.items()):
        waiting = {
            producer_id: (each.offset, each.order)
            for producer_id, of_producer in sorted(producers.items())
            for each in of_producer
            if each.markers_end_offset is None
        }
        if waiting:
            found.append((topic, partition, waiting))
    return found


def packed_by_place(group: Group) -> PlacedTransactions | None:
    """Return the data that depends on offsets of markers; None if there is none."""
    # Most groups have no transactions, and then need no bytes for them.
    if not group.pending and not group.last_markers:
        return None
    pending = [
        (topic, partition, producer_id, each)
        for (topic, partition), producers in sorted(group.pending.items())
        for producer_id, of_producer in sorted(producers.items())
        for each in of_producer
        if each.markers_end_offset is not None
    ]
    if not pending and not group.last_markers:
        return None
    return PlacedTransactions(pending, group.last_markers)


def unpacked(
    waiting: Iterable[Waiting], placed: PlacedTransactions | None
) -> dict[tuple[str, int], dict[int, tuple[PendingOffset, ...]]]:
    """Return both parts as Group.pending."""
    pending: dict[tuple[str, int], dict[int, tuple[PendingOffset, ...]]] = {
        (topic, partition): {
            producer_id: (PendingOffset(offset, order),)
            for producer_id, (offset, order) in producers.items()
        }
        for topic, partition, producers in waiting
    }
    for topic, partition, producer_id, each in () if placed is None else placed.pending:
        producers = pending.setdefault((topic, partition), {})
        # Both parts may have offsets of the same producer and partition.
        producers[producer_id] = (*producers.get(producer_id, ()), each)
    return pending


SCHEMA_VERSION = 3

Layout: TypeAlias = list[Any]
"""A group state as msgpack values; the version is first."""


UPCASTERS: dict[int, Callable[[Layout], Layout]] = {}
"""Upcasters by version: each converts a layout to a later version, and sets its number. 0.3.0, the first release, wrote 3."""


class _Snapshot(Struct, array_like=True, gc=False):
    """All data of a group but its id. The version is first in every layout.

    wake_ms is not part of it: settings may have changed since.
    """

    version: int
    membership: PackedClassicGroup | PackedConsumerGroup | None
    offsets: dict[str, StoredTopic]
    topics: list[Topic] | None
    clock_ms: int
    pending: list[Waiting]
    topics_version: int
    new_topics_version: int
    configs: dict[str, str]
    topics_are_complete: bool


class _WholeSnapshot(_Snapshot, array_like=True, gc=False):
    """A group state with data that most groups do not have."""

    placed: PlacedTransactions | None = None


class _Versioned(Struct, array_like=True):
    version: int


_decode = msgpack.Decoder(_WholeSnapshot).decode
_decode_version = msgpack.Decoder(_Versioned).decode


def dump(group: Group) -> bytes:
    """Encode the group. Sets are sorted, so that equal groups have equal bytes."""
    usual = (
        SCHEMA_VERSION,
        _packed_membership(group),
        pack(group.offsets),
        None if group.topics is None else list(group.topics.values()),
        group.clock_ms,
        packed(group) if group.pending else [],
        group.topics_version,
        group.new_topics_version,
        dict(sorted(group.configs.items())),
        group.topics_are_complete,
    )
    # The field is last and left out if it is empty: most groups have no transactions.
    placed = packed_by_place(group)
    return _encode(_Snapshot(*usual) if placed is None else _WholeSnapshot(*usual, placed))


def load(group_id: str, blob: bytes) -> Group:
    """Decode a group.

    Raises:
        SnapshotError: the bytes are no group state.
        SnapshotVersionError: no upcaster converts their version to SCHEMA_VERSION, as for a later version.
    """
    # Nearly all states have this version, so the version is checked after decoding.
    snapshot = _of_this_version(blob) or _of_an_earlier_version(group_id, blob)
    placed = snapshot.placed
    return Group(
        group_id,
        _unpacked_membership(snapshot.membership),
        unpack(snapshot.offsets),
        None if snapshot.topics is None else {topic.name: topic for topic in snapshot.topics},
        snapshot.clock_ms,
        pending=unpacked(snapshot.pending, placed),
        topics_version=snapshot.topics_version,
        new_topics_version=snapshot.new_topics_version,
        configs=snapshot.configs,
        topics_are_complete=snapshot.topics_are_complete,
        last_markers={} if placed is None else placed.last_markers,
    )


def _of_this_version(blob: bytes) -> _WholeSnapshot | None:
    try:
        snapshot = _decode(blob)
    except (ValueError, RecursionError):
        return None
    return snapshot if snapshot.version == SCHEMA_VERSION else None


def _of_an_earlier_version(group_id: str, blob: bytes) -> _WholeSnapshot:
    _check_version(group_id, blob)
    try:
        layout = msgpack.decode(blob, type=Layout)
        # Each upcaster sets the version of its result, until no later upcaster is left.
        while layout[0] in UPCASTERS:
            layout = UPCASTERS[layout[0]](layout)
        snapshot = _decode(_encode(layout))
    except (ValueError, RecursionError, IndexError) as fault:
        raise SnapshotError(_complaint(group_id, blob)) from fault
    if snapshot.version != SCHEMA_VERSION:
        raise SnapshotError(_complaint(group_id, blob))
    return snapshot


def _check_version(group_id: str, blob: bytes) -> None:
    try:
        version = _decode_version(blob).version
    except (ValueError, RecursionError) as fault:
        raise SnapshotError(_complaint(group_id, blob)) from fault
    if version not in {SCHEMA_VERSION, *UPCASTERS}:
        raise SnapshotVersionError(_complaint(group_id, blob))


def _packed_membership(group: Group) -> PackedClassicGroup | PackedConsumerGroup | None:
    membership = group.membership
    if isinstance(membership, ConsumerGroup):
        return consumer.pack(membership)
    return None if membership is None else classic.pack(membership)


def _unpacked_membership(
    membership: PackedClassicGroup | PackedConsumerGroup | None,
) -> ClassicGroup | ConsumerGroup | None:
    if isinstance(membership, PackedConsumerGroup):
        return consumer.unpack(membership)
    return None if membership is None else classic.unpack(membership)


def _complaint(group_id: str, blob: bytes) -> str:
    try:
        version = _decode_version(blob).version
    except (ValueError, RecursionError):
        return f"the state of group {group_id!r} is not readable"
    if version == SCHEMA_VERSION:
        return f"the state of group {group_id!r} is damaged"
    return (
        f"the state of group {group_id!r} has schema version {version}; "
        f"this program knows {SCHEMA_VERSION}"
    )
