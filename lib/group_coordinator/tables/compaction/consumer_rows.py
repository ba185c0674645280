"""Consumer groups (KIP-848) and classic groups as rows of groups and members, and back.

Records of consumer groups name topics by id alone. Our log has the names next to the ids (codecs/records/consumer_member.py); if
a name is unknown, as in a mirrored log, the id takes its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from msgspec import Raw, json

from group_coordinator.codecs.records import consumer_member
from group_coordinator.codecs.records.consumer_group import assignment
from group_coordinator.codecs.records.newest_values import NewestValues
from group_coordinator.codecs.records.record_types import TARGET_ASSIGNMENT
from group_coordinator.core.assignors.spec import Assignment
from group_coordinator.core.embedded_protocol import (
    MalformedProtocolError,
    parse_assignment,
    read_assignment,
)
from group_coordinator.core.model.classic_group import CONSUMER_PROTOCOL_TYPE, ClassicGroup
from group_coordinator.core.model.classic_member import ClassicMember, ClassicState
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import (
    ClassicMetadata,
    ConsumerMember,
    CurrentAssignment,
    OwnedPartitions,
    ReconciliationState,
    ResolvedRegex,
    SubscriptionMetadata,
)
from group_coordinator.core.offsets.expiration import rule_of
from group_coordinator.tables.compaction.rows import (
    AssignedPartition,
    GroupRow,
    MemberRow,
    OffsetTotals,
    OwnedPartition,
    ResolvedPattern,
    Stamp,
    target_partitions,
)
from group_coordinator.tables.timestamps import shown_ms_or_none

CLASSIC = "classic"


def classic_group(row: GroupRow) -> ClassicGroup:
    """Return the group of this row, without its members.

    Each of its records has all members, so until the next record the rows of members stay unchanged.
    """
    # Offsets of an unreadable subscription never expire while the group has members.
    is_readable = row.expiration_base != "never"
    return ClassicGroup(
        state=ClassicState(row.state),
        state_timestamp_ms=row.empty_since,
        generation=row.generation_or_epoch,
        protocol_type=row.protocol_type or None,
        protocol=row.protocol,
        leader=row.leader,
        subscribed_topics=frozenset(row.protected_topics) if is_readable else None,
    )


def classic_group_row(
    membership: ClassicGroup, empty_since_ms: int | None, totals: OffsetTotals, stamp: Stamp
) -> GroupRow:
    """Return the row of a group after its latest record, or of a group that only stores offsets."""
    rule = rule_of(membership)
    return GroupRow(
        **stamp,
        **totals,
        group_type=CLASSIC,
        state=str(membership.state),
        protocol_type=membership.protocol_type,
        protocol=membership.protocol,
        generation_or_epoch=membership.generation,
        leader=membership.leader,
        member_count=len(membership.members),
        empty_since=shown_ms_or_none(empty_since_ms),
        expiration_base=rule.base,
        protected_topics=sorted(rule.protected_topics),
    )


def classic_member_row(membership: ClassicGroup, member: ClassicMember, stamp: Stamp) -> MemberRow:
    # A record of the log has only the metadata of the protocol that the group elected.
    (subscription,) = member.protocols
    topics = subscription.topics if membership.is_of_consumers else None
    return MemberRow(
        **stamp,
        member_id=member.member_id,
        group_instance_id=member.group_instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        session_timeout_ms=member.session_timeout_ms,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        subscribed_topics=None if topics is None else sorted(topics),
        assigned_partitions=_assigned_partitions(membership, member),
        has_user_data=_has_user_data(member.assignment) if membership.is_of_consumers else None,
    )


def _assigned_partitions(
    membership: ClassicGroup, member: ClassicMember
) -> list[AssignedPartition] | None:
    if not membership.is_of_consumers:
        return None
    assignment = parse_assignment(member.assignment)
    if assignment is None:
        return None
    return [
        AssignedPartition(topic, partition)
        for topic, partitions in assignment
        for partition in partitions
    ]


def _has_user_data(assignment: bytes) -> bool | None:
    # A member that the leader gave no assignment has no bytes.
    if not assignment:
        return False
    try:
        return bool(read_assignment(assignment).user_data)
    except MalformedProtocolError:
        return None


CONSUMER = "consumer"
Column = TypeVar("Column")


def consumer_group_row(
    membership: ConsumerGroup, empty_since_ms: int | None, totals: OffsetTotals, stamp: Stamp
) -> GroupRow:
    """Return the row; the time when the last member left is that of its record, as the log has no other."""
    rule = rule_of(membership)
    return GroupRow(
        **stamp,
        **totals,
        group_type=CONSUMER,
        state=str(membership.state),
        protocol_type=CONSUMER_PROTOCOL_TYPE,
        protocol=_wanted_assignor(membership),
        generation_or_epoch=membership.epoch,
        # KIP-848 has no leader: the coordinator assigns.
        leader=None,
        member_count=len(membership.members),
        empty_since=empty_since_ms,
        expiration_base=rule.base,
        protected_topics=sorted(rule.protected_topics),
        assignment_epoch=membership.assignment_epoch,
        assignment_timestamp=shown_ms_or_none(membership.assignment_timestamp_ms or None),
        metadata_hash=membership.metadata_hash,
        resolved_regexes=[
            ResolvedPattern(regex, list(resolved.topics), resolved.version, resolved.timestamp_ms)
            for regex, resolved in sorted(membership.regexes.items())
        ],
        records=_targets_of_nobody(membership).in_json(),
    )


def _targets_of_nobody(membership: ConsumerGroup) -> NewestValues:
    # A cleaned log may have a member's target before any other record of the member.
    targets = membership.targets.items()
    return NewestValues(
        members={
            member_id: {TARGET_ASSIGNMENT: Raw(json.encode(consumer_member.target_data(target)))}
            for member_id, target in targets
            if target and member_id not in membership.members
        }
    )


def consumer_member_row(
    membership: ConsumerGroup, member: ConsumerMember, topic_names: Mapping[str, str], stamp: Stamp
) -> MemberRow:
    metadata, current = member.metadata, member.current
    assigned = _owned(current.assigned, topic_names)
    return MemberRow(
        **stamp,
        member_id=member.member_id,
        group_instance_id=metadata.group_instance_id,
        client_id=metadata.client_id,
        client_host=metadata.client_host,
        session_timeout_ms=metadata.classic.session_timeout_ms if metadata.classic else None,
        rebalance_timeout_ms=metadata.rebalance_timeout_ms,
        subscribed_topics=list(metadata.topic_names),
        assigned_partitions=[AssignedPartition(held.topic, held.partition) for held in assigned],
        member_epoch=current.epoch,
        member_type=CONSUMER if metadata.classic is None else CLASSIC,
        rack_id=metadata.rack_id,
        subscribed_regex=metadata.topic_regex,
        server_assignor=metadata.server_assignor,
        previous_member_epoch=current.previous_epoch,
        member_state=current.state.name,
        current_assignment=assigned,
        pending_revocation=_owned(current.pending_revocation, topic_names),
        target_assignment=target_partitions(membership.target_of(member.member_id), topic_names),
    )


def consumer_group(row: GroupRow, members: Iterable[MemberRow]) -> ConsumerGroup:
    membership = ConsumerGroup(
        epoch=row.generation_or_epoch,
        metadata_hash=_known(row.metadata_hash),
        assignment_epoch=_known(row.assignment_epoch),
        assignment_timestamp_ms=row.assignment_timestamp or 0,
    )
    membership.regexes = {
        entry.regex: ResolvedRegex(tuple(entry.topics), entry.version, entry.resolved_at_ms)
        for entry in _known(row.resolved_regexes)
    }
    for member_id, values in NewestValues.of_json(row.records).members.items():
        target = json.decode(values[TARGET_ASSIGNMENT], type=consumer_member.TargetData)
        membership.targets[member_id] = assignment(target.topic_partitions)
    for member in members:
        membership.put(ConsumerMember(member.member_id, _metadata_of(member), _current_of(member)))
        membership.targets[member.member_id] = _target_of(member)
    return membership


def topic_names_in(members: Iterable[MemberRow]) -> dict[str, str]:
    """Return the topics' names by id, as far as the rows have them: an id in the place of a name is skipped."""
    return {
        entry.topic_id: entry.topic
        for member in members
        for entries in (
            member.current_assignment,
            member.pending_revocation,
            member.target_assignment,
        )
        for entry in entries or ()
        if entry.topic != entry.topic_id
    }


def _wanted_assignor(membership: ConsumerGroup) -> str | None:
    """Return the assignor that most members request; None: none does, and the coordinator's first assigns."""
    asked = [member.metadata.server_assignor for member in membership.members.values()]
    votes = {name: asked.count(name) for name in sorted({name for name in asked if name})}
    # Of equal numbers the first name, as `votes` is sorted by name.
    return max(votes, key=votes.__getitem__, default=None)


def _known(value: Column | None) -> Column:
    # The columns are nullable for classic groups only, so null is a damaged table.
    if value is None:
        raise ValueError("a row of a consumer group lacks a column")
    return value


def _metadata_of(row: MemberRow) -> SubscriptionMetadata:
    # The tables do not need the protocols that a classic member listed.
    is_classic = row.member_type == CLASSIC
    return SubscriptionMetadata(
        group_instance_id=row.group_instance_id,
        rack_id=row.rack_id,
        client_id=_known(row.client_id),
        client_host=_known(row.client_host),
        topic_names=tuple(_known(row.subscribed_topics)),
        topic_regex=row.subscribed_regex,
        rebalance_timeout_ms=_known(row.rebalance_timeout_ms),
        server_assignor=row.server_assignor,
        classic=ClassicMetadata(_known(row.session_timeout_ms), ()) if is_classic else None,
    )


def _current_of(row: MemberRow) -> CurrentAssignment:
    return CurrentAssignment(
        _known(row.member_epoch),
        _known(row.previous_member_epoch),
        ReconciliationState[_known(row.member_state)],
        _owned_of(_known(row.current_assignment)),
        _owned_of(_known(row.pending_revocation)),
    )


def _owned(owned: OwnedPartitions, topic_names: Mapping[str, str]) -> list[OwnedPartition]:
    return [
        # Sorted, so that equal groups have equal rows, whatever the order of their records.
        OwnedPartition(topic_names.get(topic_id, topic_id), topic_id, partition, epoch)
        for topic_id, partitions in sorted(owned.items())
        for partition, epoch in sorted(partitions.items())
    ]


def _owned_of(entries: Iterable[OwnedPartition]) -> OwnedPartitions:
    owned: OwnedPartitions = {}
    for entry in entries:
        owned.setdefault(entry.topic_id, {})[entry.partition] = entry.assignment_epoch
    return owned


def _target_of(row: MemberRow) -> Assignment:
    partitions: dict[str, list[int]] = {}
    for entry in _known(row.target_assignment):
        partitions.setdefault(entry.topic_id, []).append(entry.partition)
    return {topic_id: tuple(numbers) for topic_id, numbers in partitions.items()}
