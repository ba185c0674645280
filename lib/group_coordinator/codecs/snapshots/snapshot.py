"""The group state as bytes: it passes a group from one call of the operator to the next.

The layout is positional msgpack. Every change of it, also in core's values, needs a new SCHEMA_VERSION, and an entry in
UPCASTERS that converts the version before. tests/golden keeps the states that each version wrote.

Members, targets, owners and offsets are separate bytes inside, which are decoded when they are read: most events need few of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeAlias

from msgspec import Raw, Struct, msgpack

from group_coordinator.codecs.snapshots import consumer
from group_coordinator.codecs.snapshots.consumer import (
    PackedConsumerGroup,
    SnapshotError,
    SnapshotVersionError,
    reader_of_a_part,
)
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import ClassicMember, ClassicState
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import MemberIndex
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.requests import Topic
from group_coordinator.core.model.stored_values import StoredValues
from group_coordinator.core.model.timers import Timer, Timers
from group_coordinator.core.model.topic_offsets import (
    CommittedOffset,
    LastMarker,
    OffsetAges,
    OffsetBucket,
    PendingOffset,
    StoredTopic,
    TopicOffsets,
)


class PackedClassicGroup(Struct, array_like=True, tag="classic", gc=False, kw_only=True):
    """The membership of a classic group. The tag makes other types possible."""

    state: ClassicState
    previous_state: ClassicState
    state_timestamp_ms: int | None
    generation: int
    protocol_type: str | None
    protocol: str | None
    leader: str | None
    subscribed_topics: list[str] | None
    # Raw: a heartbeat of one member must not decode ten thousand others.
    members: dict[str, Raw]
    """The members by id, in core's order."""
    index: MemberIndex
    pending_joins: list[str]
    pending_syncs: list[str]
    timers: dict[str, Timer]
    initial_delay_left_ms: int | None
    new_member_added: bool


_OF_NO_MEMBERS = MemberIndex()

_encode = msgpack.Encoder().encode
_decode_member = msgpack.Decoder(ClassicMember).decode


def pack_classic(membership: ClassicGroup) -> PackedClassicGroup:
    """Convert the membership for encoding; sets are sorted."""
    subscribed = membership.subscribed_topics
    return PackedClassicGroup(
        state=membership.state,
        previous_state=membership.previous_state,
        state_timestamp_ms=membership.state_timestamp_ms,
        generation=membership.generation,
        protocol_type=membership.protocol_type,
        protocol=membership.protocol,
        leader=membership.leader,
        subscribed_topics=None if subscribed is None else sorted(subscribed),
        members=membership.members.stored(_stored_member),
        # Sorted, as equal groups must have equal bytes in any order of joins.
        index=membership.index.sorted() if membership.members else _OF_NO_MEMBERS,
        pending_joins=sorted(membership.pending_joins),
        pending_syncs=list(membership.pending_syncs),
        timers=membership.timers.by_text,
        initial_delay_left_ms=membership.initial_delay_left_ms,
        new_member_added=membership.new_member_added,
    )


def unpack_classic(membership: PackedClassicGroup) -> ClassicGroup:
    """Convert a decoded membership. Members are decoded when they are read."""
    subscribed = membership.subscribed_topics
    return ClassicGroup(
        state=membership.state,
        previous_state=membership.previous_state,
        state_timestamp_ms=membership.state_timestamp_ms,
        generation=membership.generation,
        protocol_type=membership.protocol_type,
        protocol=membership.protocol,
        leader=membership.leader,
        subscribed_topics=None if subscribed is None else frozenset(subscribed),
        members=StoredValues.unread(membership.members, _member),
        pending_joins=set(membership.pending_joins),
        pending_syncs=dict.fromkeys(membership.pending_syncs),
        timers=Timers.of_texts(membership.timers),
        initial_delay_left_ms=membership.initial_delay_left_ms,
        new_member_added=membership.new_member_added,
        known_index=membership.index,
    )


def _stored_member(member: ClassicMember) -> Raw:
    return Raw(_encode(member))


@reader_of_a_part
def _member(_member_id: str, encoded: Raw) -> ClassicMember:
    return _decode_member(encoded)


PackedBuckets: TypeAlias = dict[int, tuple[int, OffsetAges, Raw]]
"""Buckets by number: the number of offsets, their ages, and the offsets by partition."""

_decode_buckets = msgpack.Decoder(PackedBuckets).decode
_decode_bucket = msgpack.Decoder(dict[int, CommittedOffset]).decode


def pack_offsets(offsets: StoredValues[TopicOffsets, StoredTopic]) -> dict[str, StoredTopic]:
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


def unpack_offsets(packed: dict[str, StoredTopic]) -> StoredValues[TopicOffsets, StoredTopic]:
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
        pack_offsets(group.offsets),
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

    Raises SnapshotError: the bytes are no group state.
    Raises SnapshotVersionError: no upcaster converts their version to SCHEMA_VERSION, as for a later version.
    """
    # Nearly all states have this version, so the version is checked after decoding.
    snapshot = _of_this_version(blob) or _of_an_earlier_version(group_id, blob)
    placed = snapshot.placed
    return Group(
        group_id,
        _unpacked_membership(snapshot.membership),
        unpack_offsets(snapshot.offsets),
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
    return None if membership is None else pack_classic(membership)


def _unpacked_membership(
    membership: PackedClassicGroup | PackedConsumerGroup | None,
) -> ClassicGroup | ConsumerGroup | None:
    if isinstance(membership, PackedConsumerGroup):
        return consumer.unpack(membership)
    return None if membership is None else unpack_classic(membership)


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
