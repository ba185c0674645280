"""The records that remove a group, or a member of a consumer group, from the log. Their order matters for Kafka's replay."""

from __future__ import annotations

from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.records import (
    CurrentRecord,
    GroupEpochRecord,
    GroupRecord,
    MemberRecord,
    PartitionMetadataTombstone,
    Reason,
    Record,
    RegexRecord,
    TargetEpochRecord,
    TargetRecord,
)


def group_tombstones(membership: ClassicGroup | ConsumerGroup, reason: Reason) -> list[Record]:
    """Return the tombstones of a group, without those of its offsets (createGroupTombstoneRecords in Kafka 4.4)."""
    if isinstance(membership, ClassicGroup):
        return [GroupRecord(None, reason)]
    return consumer_group_tombstones(sorted(membership.members), membership, reason)


def consumer_group_tombstones(
    member_ids: list[str], membership: ConsumerGroup, reason: Reason
) -> list[Record]:
    """Return the tombstones of a consumer group that has these members in the log."""
    return [
        *(CurrentRecord(member_id, None, reason) for member_id in member_ids),
        *(TargetRecord(member_id, None, reason) for member_id in member_ids),
        TargetEpochRecord(None, reason),
        *(MemberRecord(member_id, None, reason) for member_id in member_ids),
        *(RegexRecord(regex, None, reason) for regex in sorted(membership.regexes)),
        PartitionMetadataTombstone(reason),
        GroupEpochRecord(None, reason),
    ]


def member_tombstones(member_id: str, reason: Reason) -> list[Record]:
    return [
        CurrentRecord(member_id, None, reason),
        TargetRecord(member_id, None, reason),
        MemberRecord(member_id, None, reason),
    ]
