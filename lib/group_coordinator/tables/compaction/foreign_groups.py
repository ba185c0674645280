"""Rows of share groups (KIP-932) and streams groups (KIP-1071), which exist only in a mirrored log: our coordinator has none.

The offsets of share groups are in another topic of Kafka. Members of streams groups have tasks, and the topology has the tasks'
topics. A task is named after a partition of the topics that its subtopology reads. A member reads fewer partitions of topics that
have fewer than others of the subtopology: their number is not in the log.

Sources: GroupMetadataManager.replay, ShareGroup, ShareGroupMember, StreamsGroup, StreamsGroupMember and StreamsTopology in Kafka 4.4.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from msgspec import Raw, Struct, structs

from group_coordinator.codecs.records import consumer_group, record_types
from group_coordinator.codecs.records.foreign_values import (
    SHARE_READERS,
    STREAMS_READERS,
    ShareCurrentData,
    ShareMemberData,
    StreamsCurrentData,
    StreamsEpochData,
    StreamsMemberData,
    Tasks,
    TopologyData,
)
from group_coordinator.codecs.records.newest_values import NewestValues, Readers, read
from group_coordinator.core.offsets.expiration import ExpirationRule
from group_coordinator.tables.compaction.rows import (
    AssignedPartition,
    GroupRow,
    MemberRow,
    OffsetTotals,
    Stamp,
    TargetPartition,
    target_partitions,
)
from group_coordinator.tables.timestamps import shown_ms_or_none

_FIRST_EPOCH = 1
"""Epoch of a group whose own record is still missing, and of its target assignment (ModernGroup in Kafka 4.4)."""


# gc=False: rows have no cycles, and there may be hundreds of thousands, which Python's garbage collector would visit.
class ForeignMember(Struct, frozen=True, kw_only=True, gc=False):
    member_type: str
    group_instance_id: str | None = None
    rack_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int | None = None
    subscribed_topics: list[str] | None
    member_epoch: int
    previous_member_epoch: int
    member_state: str
    assigned_partitions: list[AssignedPartition] | None
    target_assignment: list[TargetPartition] | None = None


class ForeignGroup(Struct, frozen=True, kw_only=True):
    """A group and its members by id; Kafka uses group_type also as its protocol type."""

    group_type: str
    state: str
    epoch: int
    metadata_hash: int | None
    assignment_epoch: int
    assignment_timestamp_ms: int | None
    rule: ExpirationRule
    members: Mapping[str, ForeignMember]
    records: str | None = None
    """The values from which all other columns follow."""


def foreign_group_row(
    group: ForeignGroup, empty_since_ms: int | None, totals: OffsetTotals, stamp: Stamp
) -> GroupRow:
    """Return the group's row; `empty_since_ms` is not among the values."""
    return GroupRow(
        **stamp,
        **totals,
        group_type=group.group_type,
        state=group.state,
        protocol_type=group.group_type,
        protocol=None,
        generation_or_epoch=group.epoch,
        leader=None,
        member_count=len(group.members),
        empty_since=empty_since_ms,
        expiration_base=group.rule.base,
        protected_topics=sorted(group.rule.protected_topics),
        assignment_epoch=group.assignment_epoch,
        assignment_timestamp=shown_ms_or_none(group.assignment_timestamp_ms),
        metadata_hash=group.metadata_hash,
        records=group.records,
    )


def foreign_member_row(member_id: str, member: ForeignMember, stamp: Stamp) -> MemberRow:
    return MemberRow(
        # The session timeout of these groups is a setting of the group.
        **stamp,
        **structs.asdict(member),
        member_id=member_id,
        session_timeout_ms=None,
    )


SHARE = "share"
_MAKE_A_SHARE_MEMBER = frozenset(
    {record_types.SHARE_MEMBER_METADATA, record_types.SHARE_CURRENT_ASSIGNMENT}
)
"""Each of these records makes a member, even if the other is missing."""
# Share groups commit no offsets: their state is in __share_group_state.
_NO_OFFSETS = ExpirationRule("never")
_read_share = partial(read, readers=SHARE_READERS)


def _share_group(values: NewestValues, topic_names: Mapping[str, str]) -> ForeignGroup:
    members = {
        member_id: _share_member(of_member, topic_names)
        for member_id, of_member in sorted(values.members.items())
        if not _MAKE_A_SHARE_MEMBER.isdisjoint(of_member)
    }
    epoch = _read_share(values.group, record_types.SHARE_GROUP_EPOCH)
    target = _read_share(values.group, record_types.SHARE_TARGET_EPOCH)
    return ForeignGroup(
        group_type=SHARE,
        state="Stable" if members else "Empty",
        epoch=epoch.epoch if epoch else _FIRST_EPOCH,
        metadata_hash=epoch.metadata_hash if epoch else None,
        assignment_epoch=target.assignment_epoch if target else _FIRST_EPOCH,
        assignment_timestamp_ms=(target.assignment_timestamp or None) if target else None,
        rule=_NO_OFFSETS,
        members=members,
    )


def _share_member(values: Mapping[int, Raw], topic_names: Mapping[str, str]) -> ForeignMember:
    metadata = _read_share(values, record_types.SHARE_MEMBER_METADATA) or ShareMemberData()
    current = _read_share(values, record_types.SHARE_CURRENT_ASSIGNMENT) or ShareCurrentData()
    target = _read_share(values, record_types.SHARE_TARGET_ASSIGNMENT)
    assigned = consumer_group.assignment(current.assigned_partitions)
    return ForeignMember(
        member_type=SHARE,
        rack_id=metadata.rack_id,
        client_id=metadata.client_id,
        client_host=metadata.client_host,
        subscribed_topics=sorted(set(metadata.subscribed_topic_names)),
        member_epoch=current.member_epoch,
        previous_member_epoch=current.previous_member_epoch,
        member_state=consumer_group.member_state(current.state).name,
        assigned_partitions=[
            AssignedPartition(found.topic, found.partition)
            for found in target_partitions(assigned, topic_names)
        ],
        target_assignment=target_partitions(
            consumer_group.assignment(target.topic_partitions if target else ()), topic_names
        ),
    )


STREAMS = "streams"
_MAKE_A_STREAMS_MEMBER = frozenset(
    {record_types.STREAMS_MEMBER_METADATA, record_types.STREAMS_CURRENT_ASSIGNMENT}
)
"""Each of these records makes a member, even if the other is missing."""
_STABLE = 1
_MEMBER_STATES = {_STABLE: "STABLE", 2: "UNREVOKED_TASKS", 3: "UNRELEASED_TASKS"}
_UNKNOWN = "UNKNOWN"
_read_streams = partial(read, readers=STREAMS_READERS)


def _streams_group(values: NewestValues) -> ForeignGroup:
    topology: TopologyData | None = _read_streams(values.group, record_types.STREAMS_TOPOLOGY)
    topics = None if topology is None else topology.topics
    currents = {
        member_id: _read_streams(of_member, record_types.STREAMS_CURRENT_ASSIGNMENT)
        or StreamsCurrentData()
        for member_id, of_member in sorted(values.members.items())
        if not _MAKE_A_STREAMS_MEMBER.isdisjoint(of_member)
    }
    epoch = _read_streams(values.group, record_types.STREAMS_GROUP_EPOCH) or StreamsEpochData(
        _FIRST_EPOCH
    )
    target = _read_streams(values.group, record_types.STREAMS_TARGET_EPOCH)
    assignment_epoch = target.assignment_epoch if target else _FIRST_EPOCH
    return ForeignGroup(
        group_type=STREAMS,
        state=_state(epoch, topology, assignment_epoch, currents.values()),
        epoch=epoch.epoch,
        metadata_hash=epoch.metadata_hash,
        assignment_epoch=assignment_epoch,
        assignment_timestamp_ms=(target.assignment_timestamp or None) if target else None,
        # Commit times count in every state, and the topics of a group with members are protected.
        rule=ExpirationRule("commit", frozenset((currents and topics) or ())),
        members={
            member_id: _streams_member(values.members[member_id], current, topology)
            for member_id, current in currents.items()
        },
    )


def _state(
    epoch: StreamsEpochData,
    topology: TopologyData | None,
    assignment_epoch: int,
    currents: Collection[StreamsCurrentData],
) -> str:
    if not currents:
        return "Empty"
    # Kafka validates the topology's topics before it assigns tasks.
    if topology is None or topology.epoch != epoch.validated_topology_epoch:
        return "NotReady"
    if epoch.epoch > assignment_epoch:
        return "Assigning"
    reconciled = (c.state == _STABLE and c.member_epoch == assignment_epoch for c in currents)
    return "Stable" if all(reconciled) else "Reconciling"


def _streams_member(
    values: Mapping[int, Raw], current: StreamsCurrentData, topology: TopologyData | None
) -> ForeignMember:
    metadata = _read_streams(values, record_types.STREAMS_MEMBER_METADATA) or StreamsMemberData()
    return ForeignMember(
        member_type=STREAMS,
        group_instance_id=metadata.instance_id,
        rack_id=metadata.rack_id,
        client_id=metadata.client_id,
        client_host=metadata.client_host,
        rebalance_timeout_ms=metadata.rebalance_timeout_ms,
        subscribed_topics=None if topology is None else topology.topics,
        member_epoch=current.member_epoch,
        previous_member_epoch=current.previous_member_epoch,
        member_state=_MEMBER_STATES.get(current.state, _UNKNOWN),
        assigned_partitions=None
        if topology is None
        else _partitions_of(current.active_tasks, topology),
    )


def _partitions_of(tasks: Collection[Tasks], topology: TopologyData) -> list[AssignedPartition]:
    topics = {part.subtopology_id: part.topics for part in topology.subtopologies}
    found = {
        (topic, partition)
        for of_subtopology in tasks
        for topic in topics.get(of_subtopology.subtopology_id, ())
        for partition in of_subtopology.partitions
    }
    return [AssignedPartition(topic, partition) for topic, partition in sorted(found)]


class ForeignKind(NamedTuple):
    group_type: str
    record_types: tuple[int, ...]
    epoch_type: int
    member_types: frozenset[int]
    readers: Readers
    group_of: Callable[[NewestValues, Mapping[str, str]], ForeignGroup]
    """Returns the content of the tables, from the values and from the names of topics by id."""


_KINDS = (
    ForeignKind(
        group_type=SHARE,
        record_types=record_types.OF_SHARE_GROUPS,
        epoch_type=record_types.SHARE_GROUP_EPOCH,
        member_types=_MAKE_A_SHARE_MEMBER,
        readers=SHARE_READERS,
        group_of=_share_group,
    ),
    ForeignKind(
        group_type=STREAMS,
        record_types=record_types.OF_STREAMS_GROUPS,
        epoch_type=record_types.STREAMS_GROUP_EPOCH,
        member_types=_MAKE_A_STREAMS_MEMBER,
        readers=STREAMS_READERS,
        # The records of streams groups name topics by name.
        group_of=lambda values, _topic_names: _streams_group(values),
    ),
)
FOREIGN_KINDS = {record_type: kind for kind in _KINDS for record_type in kind.record_types}
"""Group type by record type."""
_BY_NAME = {kind.group_type: kind for kind in _KINDS}


@dataclass(slots=True)
class ForeignMembership:
    kind: ForeignKind
    values: NewestValues = field(default_factory=NewestValues)

    @property
    def has_members(self) -> bool:
        member_types = self.kind.member_types
        return any(not member_types.isdisjoint(found) for found in self.values.members.values())

    def shown(self, topic_names: Mapping[str, str]) -> ForeignGroup:
        group = self.kind.group_of(self.values, topic_names)
        return structs.replace(group, records=self.values.in_json())


def foreign_membership(row: GroupRow | None) -> ForeignMembership | None:
    """Return the group of this row; None: it is of another type."""
    kind = None if row is None else _BY_NAME.get(row.group_type)
    if row is None or kind is None:
        return None
    return ForeignMembership(kind, NewestValues.of_json(row.records))
