"""The group state as bytes: it passes a group from one call of the operator to the next.

The layout is positional msgpack. Every change of it, also in core's values, needs a new SCHEMA_VERSION, and an entry in
UPCASTERS that converts the version before. tests/golden keeps the states that each version wrote.

Members, targets, owners and offsets are separate bytes inside, which are decoded when they are read: most events need few of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from msgspec import Struct, msgpack

from group_coordinator.codecs.snapshots import classic, consumer, offsets, transactions
from group_coordinator.codecs.snapshots.classic import PackedClassicGroup
from group_coordinator.codecs.snapshots.consumer import PackedConsumerGroup
from group_coordinator.codecs.snapshots.errors import SnapshotError, SnapshotVersionError
from group_coordinator.codecs.snapshots.transactions import PlacedTransactions, Waiting
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.topic import Topic
from group_coordinator.core.model.topic_offsets import StoredTopic

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


_encode = msgpack.Encoder().encode
_decode = msgpack.Decoder(_WholeSnapshot).decode
_decode_version = msgpack.Decoder(_Versioned).decode


def dump(group: Group) -> bytes:
    """Encode the group. Sets are sorted, so that equal groups have equal bytes."""
    usual = (
        SCHEMA_VERSION,
        _packed_membership(group),
        offsets.pack(group.offsets),
        None if group.topics is None else list(group.topics.values()),
        group.clock_ms,
        transactions.packed(group) if group.pending else [],
        group.topics_version,
        group.new_topics_version,
        dict(sorted(group.configs.items())),
        group.topics_are_complete,
    )
    # The field is last and left out if it is empty: most groups have no transactions.
    placed = transactions.packed_by_place(group)
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
        offsets.unpack(snapshot.offsets),
        None if snapshot.topics is None else {topic.name: topic for topic in snapshot.topics},
        snapshot.clock_ms,
        pending=transactions.unpacked(snapshot.pending, placed),
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
