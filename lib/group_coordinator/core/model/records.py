"""The records of Kafka's __consumer_offsets that groups write. They are log, audit and recovery at once."""

from __future__ import annotations

from enum import StrEnum

from group_coordinator.core.assignors.spec import Assignment
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import Protocol
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import (
    CurrentAssignment,
    GroupEpoch,
    ResolvedRegex,
    SubscriptionMetadata,
    TargetEpoch,
)
from group_coordinator.core.model.topic_offsets import CommittedOffset
from group_coordinator.core.value import Value


# The values are in tables and in users' queries, so none may be renamed.
class Reason(StrEnum):
    """The reason of a record: our own addition to Kafka's key and value."""

    OFFSET_COMMIT = "offset-commit"
    TRANSACTION_COMMITTED = "transaction-committed"
    TRANSACTION_ABORTED = "transaction-aborted"
    OFFSET_EXPIRED = "offset-expired"
    OFFSET_DELETED = "offset-deleted"
    OFFSET_RESET = "offset-reset"
    """A commit that is marked as an administrator's reset. Commits of ordinary tools are not marked."""
    OFFSET_RESTORED = "offset-restored"
    """The same, of offsets as they were at an earlier time."""
    GROUP_DELETED = "group-deleted"
    GROUP_EXPIRED = "group-expired"
    TOPIC_DELETED = "topic-deleted"
    JOIN = "join"
    SYNC = "sync"
    LEAVE = "leave"
    SESSION_TIMEOUT = "session-timeout"
    REBALANCE_TIMEOUT = "rebalance-timeout"
    HEARTBEAT = "heartbeat"
    TOPICS_RESOLVED = "topics-resolved"
    UPGRADE = "upgrade"
    DOWNGRADE = "downgrade"
    CONFIG = "config"
    MIRRORED = "mirrored"
    OBSERVED = "observed"
    """A change between two polls of a mirrored cluster, whose reason is not known."""


class OffsetRecord(Value, frozen=True):
    """Record type 1 (OffsetCommit); value None is a tombstone."""

    topic: str
    partition: int
    value: CommittedOffset | None
    reason: Reason
    producer_id: int | None = None
    """The offset waits for the end of this producer's transaction. In Kafka's log the id is in the batch's header."""
    markers_end_offset: int | None = None
    """See PendingOffset; our own."""
    producer_epoch: int | None = None
    """See PendingOffset. In Kafka's log it is in the batch's header."""


class TransactionMarker(Value, frozen=True):
    """The control record that ends a producer's transaction: nothing of it is pending any more.

    `offsets` are triples (topic, partition, offset) of the offsets that are committed now. Kafka's readers find them in the log
    before the marker.
    """

    producer_id: int
    offsets: tuple[tuple[str, int, CommittedOffset], ...]
    reason: Reason
    marker_offset: int | None = None
    """The offset of the marker in the brokers' own log; None: unknown, so it ends all pending offsets of the producer."""
    since_offset: int | None = None
    """The marker is the producer's first from this offset on. Earlier pending offsets may have had another marker. None: unknown."""
    producer_epoch: int | None = None


class MemberMetadata(Value, frozen=True, kw_only=True):
    """A member in a GroupMetadata value. `subscription` is its entry for the group's protocol."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    subscription: Protocol
    assignment: bytes

    @property
    def known_rebalance_timeout_ms(self) -> int:
        """The rebalance timeout. The first version of the record had none (-1 here): the session timeout replaces it."""
        is_known = self.rebalance_timeout_ms != -1
        return self.rebalance_timeout_ms if is_known else self.session_timeout_ms


class GroupMetadata(Value, frozen=True, kw_only=True):
    """The value of record type 2. Without members the group is Empty, otherwise Stable."""

    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    state_timestamp_ms: int | None
    members: tuple[MemberMetadata, ...]


class GroupRecord(Value, frozen=True):
    """Record type 2 (GroupMetadata); value None is a tombstone: the group ends."""

    value: GroupMetadata | None
    reason: Reason


class GroupEpochRecord(Value, frozen=True):
    """Record type 3 (ConsumerGroupMetadata); value None is a tombstone: the group ends."""

    value: GroupEpoch | None
    reason: Reason


class PartitionMetadataTombstone(Value, frozen=True):
    """Record type 4 (ConsumerGroupPartitionMetadata). Since 4.1 Kafka only removes it."""

    reason: Reason
    value: None = None


class MemberRecord(Value, frozen=True):
    """Record type 5 (ConsumerGroupMemberMetadata); value None is a tombstone: the member is removed."""

    member_id: str
    value: SubscriptionMetadata | None
    reason: Reason


class TargetEpochRecord(Value, frozen=True):
    """Record type 6 (ConsumerGroupTargetAssignmentMetadata); value None is a tombstone."""

    value: TargetEpoch | None
    reason: Reason


class TargetRecord(Value, frozen=True):
    """Record type 7 (ConsumerGroupTargetAssignmentMember); value None is a tombstone."""

    member_id: str
    value: Assignment | None
    reason: Reason


class CurrentRecord(Value, frozen=True):
    """Record type 8 (ConsumerGroupCurrentMemberAssignment); value None is a tombstone."""

    member_id: str
    value: CurrentAssignment | None
    reason: Reason


class RegexRecord(Value, frozen=True):
    """Record type 16 (ConsumerGroupRegularExpression); value None is a tombstone."""

    regex: str
    value: ResolvedRegex | None
    reason: Reason


class ConfigRecord(Value, frozen=True):
    """A group configuration, as in the ConfigRecord of Kafka's metadata log; value None deletes it.

    Its life is independent of the group: it may exist before the group and after it.
    """

    name: str
    value: str | None
    reason: Reason


ConsumerRecord = (
    GroupEpochRecord
    | PartitionMetadataTombstone
    | MemberRecord
    | TargetEpochRecord
    | TargetRecord
    | CurrentRecord
    | RegexRecord
)
"""The records of consumer groups (KIP-848)."""

Record = OffsetRecord | GroupRecord | TransactionMarker | ConfigRecord | ConsumerRecord


def group_tombstones(membership: ClassicGroup | ConsumerGroup, reason: Reason) -> list[Record]:
    """Return the tombstones of a group, without those of its offsets (createGroupTombstoneRecords in Kafka 4.4)."""
    if isinstance(membership, ClassicGroup):
        return [GroupRecord(None, reason)]
    return consumer_group_tombstones(sorted(membership.members), membership, reason)


def consumer_group_tombstones(
    member_ids: list[str], membership: ConsumerGroup, reason: Reason
) -> list[Record]:
    """Return the tombstones of a consumer group with these members in the log, in the order that Kafka's replay needs."""
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
