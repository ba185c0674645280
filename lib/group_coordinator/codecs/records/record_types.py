"""The record types: Kafka's numbers in __consumer_offsets and ours; and the envelope of key and value."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from msgspec import Struct

from group_coordinator.core.model.records import (
    ConsumerRecord,
    CurrentRecord,
    GroupEpochRecord,
    MemberRecord,
    PartitionMetadataTombstone,
    RegexRecord,
    TargetEpochRecord,
    TargetRecord,
)

LEGACY_OFFSET_COMMIT = 0
"""An OffsetCommit under an older number: Kafka reads it and does not write it any more."""
OFFSET_COMMIT = 1
GROUP_METADATA = 2
GROUP_EPOCH = 3
PARTITION_METADATA = 4
MEMBER_METADATA = 5
TARGET_EPOCH = 6
TARGET_ASSIGNMENT = 7
CURRENT_ASSIGNMENT = 8
REGULAR_EXPRESSION = 16

SHARE_MEMBER_METADATA = 10
SHARE_GROUP_EPOCH = 11
SHARE_TARGET_EPOCH = 12
SHARE_TARGET_ASSIGNMENT = 13
SHARE_CURRENT_ASSIGNMENT = 14
SHARE_STATE_OF_TOPICS = 15

STREAMS_GROUP_EPOCH = 17
STREAMS_MEMBER_METADATA = 19
STREAMS_TARGET_EPOCH = 20
STREAMS_TARGET_ASSIGNMENT = 21
STREAMS_CURRENT_ASSIGNMENT = 22
STREAMS_TOPOLOGY = 23

TRANSACTION_MARKER = -1
"""Ours: Kafka's control records have numbers of their own, which mean something else among these."""
GROUP_CONFIG = -2
"""Ours: Kafka keeps the settings of groups in its metadata log."""
RAW_MESSAGE = -3
"""Ours: a message of a mirrored topic that could not be decoded, of which no group is made."""

OF_CONSUMER_GROUPS: dict[type, int] = {
    GroupEpochRecord: GROUP_EPOCH,
    PartitionMetadataTombstone: PARTITION_METADATA,
    MemberRecord: MEMBER_METADATA,
    TargetEpochRecord: TARGET_EPOCH,
    TargetRecord: TARGET_ASSIGNMENT,
    CurrentRecord: CURRENT_ASSIGNMENT,
    RegexRecord: REGULAR_EXPRESSION,
}
"""What consumer groups (KIP-848) write."""
OF_MEMBERS = (MEMBER_METADATA, TARGET_ASSIGNMENT, CURRENT_ASSIGNMENT)
"""What consumer groups write about one member."""
RECORD_TYPES = (
    OFFSET_COMMIT,
    GROUP_METADATA,
    *OF_CONSUMER_GROUPS.values(),
    TRANSACTION_MARKER,
    GROUP_CONFIG,
)
"""All that the groups of a coordinator of ours are made of."""
OF_SHARE_GROUPS = (
    SHARE_MEMBER_METADATA,
    SHARE_GROUP_EPOCH,
    SHARE_TARGET_EPOCH,
    SHARE_TARGET_ASSIGNMENT,
    SHARE_CURRENT_ASSIGNMENT,
    SHARE_STATE_OF_TOPICS,
)
"""What share groups (KIP-932) write; only a mirrored log has them."""
OF_STREAMS_GROUPS = (
    STREAMS_GROUP_EPOCH,
    STREAMS_MEMBER_METADATA,
    STREAMS_TARGET_EPOCH,
    STREAMS_TARGET_ASSIGNMENT,
    STREAMS_CURRENT_ASSIGNMENT,
    STREAMS_TOPOLOGY,
)
"""What streams groups (KIP-1071) write; only a mirrored log has them."""
COMPACTED_TYPES = (
    *(LEGACY_OFFSET_COMMIT, *RECORD_TYPES),
    *(*OF_SHARE_GROUPS, *OF_STREAMS_GROUPS),
)
"""All that groups are made of, whoever coordinates them."""


def member_of(record: ConsumerRecord) -> str | None:
    """The member that the record is about."""
    return (
        record.member_id
        if isinstance(record, MemberRecord | TargetRecord | CurrentRecord)
        else None
    )


Data = TypeVar("Data")


class Key(Struct, Generic[Data], frozen=True, gc=False):
    """What a record is about."""

    type: int
    data: Data


class Value(Struct, Generic[Data], frozen=True, gc=False, kw_only=True, rename="camel"):
    """What a record says; the version is written and not asked for: older values have less."""

    version: int = 0
    data: Data


class LogEntry(Struct, frozen=True, gc=False):
    """A record as the log keeps it: what becomes JSON, and the facts that tables ask for."""

    key: Key[Any]
    value: Value[Any] | None
    topic: str | None = None
    partition: int | None = None
    member_id: str | None = None
    offset: int | None = None
