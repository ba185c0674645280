"""Classic groups as rows of groups and members, and back."""

from __future__ import annotations

from group_coordinator.core.embedded_protocol import parse_assignment
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import ClassicMember
from group_coordinator.core.model.states import ClassicState
from group_coordinator.core.offsets.expiration import rule_of
from group_coordinator.tables.compaction.rows import (
    AssignedPartition,
    GroupRow,
    MemberRow,
    OffsetTotals,
    Stamp,
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
    """Return the row of a member, by the group's latest record."""
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
