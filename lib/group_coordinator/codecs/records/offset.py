"""Record type 1 (OffsetCommitKey.json, OffsetCommitValue.json in Kafka): an offset of a partition."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType, json

from group_coordinator.codecs.fields import (
    number_on_wire,
    number_or_none,
    or_default,
    unset_if_none,
)
from group_coordinator.codecs.records import record_types
from group_coordinator.codecs.records.record_types import Key, LogEntry, RecordValue
from group_coordinator.core.model.records import OffsetRecord, Reason
from group_coordinator.core.model.topic_offsets import CommittedOffset

_VERSION = 4
_EXPIRING_VERSION = 1
"""The only version with an expire timestamp. It has neither leader epoch nor topic id."""


class OffsetKeyData(Struct, frozen=True, gc=False):
    group: str
    topic: str
    partition: int


# gc=False: a value has no cycles, and there may be a hundred thousand in a group.
class OffsetData(Struct, frozen=True, gc=False, kw_only=True, rename="camel"):
    """The fields of all versions. Each version leaves some out."""

    offset: int
    leader_epoch: int | UnsetType = UNSET
    metadata: str = ""
    commit_timestamp: int
    expire_timestamp: int | UnsetType = UNSET
    topic_id: str | UnsetType | None = UNSET


class OffsetValue(RecordValue[OffsetData], frozen=True, gc=False, kw_only=True, rename="camel"):
    """Kafka's value. In a transaction it has the producer id, which Kafka keeps in the batch's header."""

    producer_id: int | UnsetType | None = UNSET
    markers_end_offset: int | UnsetType | None = UNSET
    """Our own field."""
    producer_epoch: int | UnsetType | None = UNSET


_decode_key = json.Decoder(Key[OffsetKeyData]).decode
_decode_value = json.Decoder(OffsetValue).decode


def encode(group_id: str, record: OffsetRecord) -> LogEntry:
    topic, partition, offset = record.topic, record.partition, record.value
    key = Key(record_types.OFFSET_COMMIT, OffsetKeyData(group_id, topic, partition))
    if offset is None:
        return LogEntry(key, None, topic, partition)
    value = _value(offset, record)
    return LogEntry(
        key=key, value=value, topic=topic, partition=partition, member_id=None, offset=offset.offset
    )


def _value(offset: CommittedOffset, record: OffsetRecord) -> OffsetValue:
    # Kafka too writes the old version only for commits with a retention time.
    if offset.expire_timestamp_ms is not None:
        return OffsetValue(version=_EXPIRING_VERSION, data=_expiring(offset))
    data = offset_data(offset)
    if record.producer_id is None:
        return OffsetValue(version=_VERSION, data=data)
    return OffsetValue(
        version=_VERSION,
        data=data,
        producer_id=record.producer_id,
        markers_end_offset=unset_if_none(record.markers_end_offset),
        producer_epoch=unset_if_none(record.producer_epoch),
    )


def offset_data(offset: CommittedOffset) -> OffsetData:
    """Return the fields of the version that Kafka writes."""
    return OffsetData(
        offset=offset.offset,
        leader_epoch=number_on_wire(offset.leader_epoch),
        metadata=offset.metadata,
        commit_timestamp=offset.commit_timestamp_ms,
        topic_id=UNSET if offset.topic_id is None else offset.topic_id,
    )


def _expiring(offset: CommittedOffset) -> OffsetData:
    return OffsetData(
        offset=offset.offset,
        metadata=offset.metadata,
        commit_timestamp=offset.commit_timestamp_ms,
        expire_timestamp=number_on_wire(offset.expire_timestamp_ms),
    )


def decode(key: str, value: str | None, reason: Reason) -> OffsetRecord:
    about = _decode_key(key).data
    if value is None:
        return OffsetRecord(about.topic, about.partition, None, reason)
    found = _decode_value(value)
    return OffsetRecord(
        topic=about.topic,
        partition=about.partition,
        value=committed_offset(found.data),
        reason=reason,
        producer_id=or_default(found.producer_id, None),
        markers_end_offset=or_default(found.markers_end_offset, None),
        producer_epoch=or_default(found.producer_epoch, None),
    )


def committed_offset(data: OffsetData) -> CommittedOffset:
    """Convert the fields to an offset."""
    return CommittedOffset(
        offset=data.offset,
        leader_epoch=number_or_none(data.leader_epoch),
        metadata=data.metadata,
        commit_timestamp_ms=data.commit_timestamp,
        expire_timestamp_ms=number_or_none(data.expire_timestamp),
        topic_id=None if data.topic_id is UNSET else data.topic_id,
    )
