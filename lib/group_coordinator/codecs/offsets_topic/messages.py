"""The records of core that are messages of __consumer_offsets: classic and consumer groups and their offsets."""

from __future__ import annotations

from typing import TypeAlias, cast

from msgspec import json

from group_coordinator.codecs.offsets_topic.entries import (
    UnknownRecordTypeError,
    decode_entry,
    encode_entry,
)
from group_coordinator.codecs.records import log_entry
from group_coordinator.codecs.records.record_types import LEGACY_OFFSET_COMMIT, RECORD_TYPES
from group_coordinator.core.model.records import ConsumerRecord, GroupRecord, OffsetRecord

MessageRecord: TypeAlias = OffsetRecord | GroupRecord | ConsumerRecord
"""The records that are messages with a key and a value of their own."""


def encode(group_id: str, record: MessageRecord) -> tuple[bytes, bytes | None]:
    """Key and value of a record's message, in the version that Kafka 4.4.0 writes; a tombstone has no value.

    Raises:
        OffsetsTopicError: something is too long or too large for Kafka.
    """
    return encode_entry(log_entry.encode(group_id, record))


def decode(key: bytes, value: bytes | None) -> tuple[str, MessageRecord]:
    """The group and the record of a message; its producer id, if any, is in the header of its batch.

    Raises:
        UnknownRecordTypeError: the message belongs to another kind of group.
        OffsetsTopicError: Kafka does not read the bytes either.
    """
    group_id, entry = decode_entry(key, value)
    record_type = entry.key.type
    if record_type not in (LEGACY_OFFSET_COMMIT, *RECORD_TYPES):
        raise UnknownRecordTypeError(
            f"key: record type: {record_type} is of no classic or consumer group"
        )
    about = json.encode(entry.key).decode()
    says = None if entry.value is None else json.encode(entry.value).decode()
    return group_id, cast("MessageRecord", log_entry.decode(about, says))
