"""Rows of share and streams groups, which exist only in a mirrored log: our coordinator has none."""

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
