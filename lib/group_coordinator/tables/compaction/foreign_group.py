"""What tables show of a share or streams group: kinds of groups that a mirrored log has, and no coordinator of ours."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, structs

from group_coordinator.core.offsets.expiration import ExpirationRule
from group_coordinator.tables.compaction.rows import (
    AssignedPartition,
    GroupRow,
    MemberRow,
    OffsetTotals,
    Stamp,
    TargetPartition,
)
from group_coordinator.tables.timestamps import shown_ms_or_none

FIRST_EPOCH = 1
"""Of a group whose own record has not come yet, and of its target assignment (ModernGroup in Kafka 4.4)."""


class ForeignMember(Struct, frozen=True, kw_only=True, gc=False):
    """Columns of a member's row."""

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
    """A group and its members by id; group_type is what Kafka calls its protocol type too."""

    group_type: str
    state: str
    epoch: int
    metadata_hash: int | None
    assignment_epoch: int
    assignment_timestamp_ms: int | None
    rule: ExpirationRule
    members: Mapping[str, ForeignMember]
    records: str | None = None
    """The values that all this follows from."""


def foreign_group_row(
    group: ForeignGroup, empty_since_ms: int | None, totals: OffsetTotals, stamp: Stamp
) -> GroupRow:
    """The group's row; when its last member left is not among the values."""
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
    """A member's row."""
    return MemberRow(
        **stamp, **structs.asdict(member), member_id=member_id, session_timeout_ms=None
    )
