"""The record types, Kafka's numbers in __consumer_offsets and our own, and the envelopes of key and value.

A message of a mirrored topic that is unreadable or has no effect is kept as its bytes and the fault.
"""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, TypeVar

from msgspec import Struct, json

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
"""An OffsetCommit under an older number. Kafka reads it, and no longer writes it."""
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
"""Our own number: Kafka's control records have other numbers, which have another meaning here."""
GROUP_CONFIG = -2
"""Our own number: Kafka keeps group configurations in its metadata log."""
RAW_MESSAGE = -3
"""Our own number: a message of a mirrored topic that could not be decoded. It belongs to no group."""

OF_CONSUMER_GROUPS: dict[type, int] = {
    GroupEpochRecord: GROUP_EPOCH,
    PartitionMetadataTombstone: PARTITION_METADATA,
    MemberRecord: MEMBER_METADATA,
    TargetEpochRecord: TARGET_EPOCH,
    TargetRecord: TARGET_ASSIGNMENT,
    CurrentRecord: CURRENT_ASSIGNMENT,
    RegexRecord: REGULAR_EXPRESSION,
}
"""The records of consumer groups (KIP-848)."""
OF_MEMBERS = (MEMBER_METADATA, TARGET_ASSIGNMENT, CURRENT_ASSIGNMENT)
"""The records of members of consumer groups."""
RECORD_TYPES = (
    OFFSET_COMMIT,
    GROUP_METADATA,
    *OF_CONSUMER_GROUPS.values(),
    TRANSACTION_MARKER,
    GROUP_CONFIG,
)
"""The records of groups of this coordinator."""
OF_SHARE_GROUPS = (
    SHARE_MEMBER_METADATA,
    SHARE_GROUP_EPOCH,
    SHARE_TARGET_EPOCH,
    SHARE_TARGET_ASSIGNMENT,
    SHARE_CURRENT_ASSIGNMENT,
    SHARE_STATE_OF_TOPICS,
)
"""The records of share groups (KIP-932). Only a mirrored log has them."""
OF_STREAMS_GROUPS = (
    STREAMS_GROUP_EPOCH,
    STREAMS_MEMBER_METADATA,
    STREAMS_TARGET_EPOCH,
    STREAMS_TARGET_ASSIGNMENT,
    STREAMS_CURRENT_ASSIGNMENT,
    STREAMS_TOPOLOGY,
)
"""The records of streams groups (KIP-1071). Only a mirrored log has them."""
COMPACTED_TYPES = (LEGACY_OFFSET_COMMIT, *RECORD_TYPES, *OF_SHARE_GROUPS, *OF_STREAMS_GROUPS)
"""The records of groups of any coordinator."""
REMOVAL_ORDER = (
    *(LEGACY_OFFSET_COMMIT, OFFSET_COMMIT),
    *(CURRENT_ASSIGNMENT, TARGET_ASSIGNMENT, TARGET_EPOCH, MEMBER_METADATA),
    *(REGULAR_EXPRESSION, PARTITION_METADATA, GROUP_EPOCH),
    *(SHARE_CURRENT_ASSIGNMENT, SHARE_TARGET_ASSIGNMENT, SHARE_TARGET_EPOCH),
    *(SHARE_MEMBER_METADATA, SHARE_STATE_OF_TOPICS, SHARE_GROUP_EPOCH),
    *(STREAMS_CURRENT_ASSIGNMENT, STREAMS_TARGET_ASSIGNMENT, STREAMS_TARGET_EPOCH),
    *(STREAMS_MEMBER_METADATA, STREAMS_TOPOLOGY, STREAMS_GROUP_EPOCH),
    GROUP_METADATA,
)
"""Kafka's order of deletion: offsets before their group, and dependent records before their owner."""


def member_of(record: ConsumerRecord) -> str | None:
    """Return the member of the record; None: the record is about the group."""
    return (
        record.member_id
        if isinstance(record, MemberRecord | TargetRecord | CurrentRecord)
        else None
    )


Data = TypeVar("Data")


class Key(Struct, Generic[Data], frozen=True, gc=False):
    type: int
    data: Data


class RecordValue(Struct, Generic[Data], frozen=True, gc=False, kw_only=True, rename="camel"):
    """The value of a record. The version is written but not read: older values have fewer fields."""

    version: int = 0
    data: Data


class LogEntry(Struct, frozen=True, gc=False):
    """A record in the log: the parts that become JSON, and the columns of tables."""

    key: Key[Any]
    value: RecordValue[Any] | None
    topic: str | None = None
    partition: int | None = None
    member_id: str | None = None
    offset: int | None = None


class _KeyData(Struct, frozen=True, gc=False):
    """The bytes of the key, as base64 in JSON, and the fault."""

    raw: bytes | None
    fault: str


class _ValueData(Struct, frozen=True, gc=False):
    raw: bytes


class RawMessage(NamedTuple):
    """An original message. None: it had no key, or no value."""

    key: bytes | None
    value: bytes | None
    fault: str


_encode = json.Encoder().encode
_decode_key = json.Decoder(Key[_KeyData]).decode
_decode_value = json.Decoder(RecordValue[_ValueData]).decode


def encode(message: RawMessage) -> tuple[str, str | None]:
    """Return key and value of the row in the log."""
    key = _encode(Key(RAW_MESSAGE, _KeyData(message.key, message.fault))).decode()
    if message.value is None:
        return key, None
    return key, _encode(RecordValue(data=_ValueData(message.value))).decode()


def decode(key: str, value: str | None) -> RawMessage:
    """Return the message of a row of the log."""
    about = _decode_key(key).data
    return RawMessage(
        about.raw, None if value is None else _decode_value(value).data.raw, about.fault
    )
