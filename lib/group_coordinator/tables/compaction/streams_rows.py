"""Streams groups (KIP-1071) as rows. Members have tasks, and the topology has the tasks' topics.

A task is named after a partition of the topics that its subtopology reads. A member reads fewer partitions of topics
that have fewer than others of the subtopology: their number is not in the log.

Sources: GroupMetadataManager.replay, StreamsGroup, StreamsGroupMember and StreamsTopology in Kafka 4.4.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial

from msgspec import Raw

from group_coordinator.codecs.records.foreign_values import (
    STREAMS_READERS,
    StreamsCurrentData,
    StreamsEpochData,
    StreamsMemberData,
    Tasks,
    TopologyData,
)
from group_coordinator.codecs.records.newest_values import NewestValues, read
from group_coordinator.codecs.records.record_types import (
    STREAMS_CURRENT_ASSIGNMENT,
    STREAMS_GROUP_EPOCH,
    STREAMS_MEMBER_METADATA,
    STREAMS_TARGET_EPOCH,
    STREAMS_TOPOLOGY,
)
from group_coordinator.core.offsets.expiration import ExpirationRule
from group_coordinator.tables.compaction.foreign_group import (
    FIRST_EPOCH,
    ForeignGroup,
    ForeignMember,
)
from group_coordinator.tables.compaction.rows import AssignedPartition

STREAMS = "streams"
MAKE_A_MEMBER = frozenset({STREAMS_MEMBER_METADATA, STREAMS_CURRENT_ASSIGNMENT})
"""Each of these records makes a member, even if the other is missing."""
_STABLE = 1
_MEMBER_STATES = {_STABLE: "STABLE", 2: "UNREVOKED_TASKS", 3: "UNRELEASED_TASKS"}
_UNKNOWN = "UNKNOWN"
_read = partial(read, readers=STREAMS_READERS)


def streams_group(values: NewestValues) -> ForeignGroup:
    topology: TopologyData | None = _read(values.group, STREAMS_TOPOLOGY)
    topics = None if topology is None else topology.topics
    currents = {
        member_id: _read(of_member, STREAMS_CURRENT_ASSIGNMENT) or StreamsCurrentData()
        for member_id, of_member in sorted(values.members.items())
        if not MAKE_A_MEMBER.isdisjoint(of_member)
    }
    epoch = _read(values.group, STREAMS_GROUP_EPOCH) or StreamsEpochData(FIRST_EPOCH)
    target = _read(values.group, STREAMS_TARGET_EPOCH)
    assignment_epoch = target.assignment_epoch if target else FIRST_EPOCH
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
            member_id: _member(values.members[member_id], current, topology)
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


def _member(
    values: Mapping[int, Raw], current: StreamsCurrentData, topology: TopologyData | None
) -> ForeignMember:
    metadata = _read(values, STREAMS_MEMBER_METADATA) or StreamsMemberData()
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
        assigned_partitions=None if topology is None else _read_by(current.active_tasks, topology),
    )


def _read_by(tasks: Collection[Tasks], topology: TopologyData) -> list[AssignedPartition]:
    topics = {part.subtopology_id: part.topics for part in topology.subtopologies}
    found = {
        (topic, partition)
        for of_subtopology in tasks
        for topic in topics.get(of_subtopology.subtopology_id, ())
        for partition in of_subtopology.partitions
    }
    return [AssignedPartition(topic, partition) for topic, partition in sorted(found)]
