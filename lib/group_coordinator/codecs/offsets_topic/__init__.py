"""Kafka's __consumer_offsets: keys and values of its messages, byte for byte, on one side, core's records on the other."""

from __future__ import annotations

from group_coordinator.codecs.offsets_topic.errors import OffsetsTopicError, UnknownRecordTypeError
from group_coordinator.codecs.offsets_topic.messages import (
    MessageRecord,
    decode,
    encode_key,
    encode_legacy_key,
    encode_value,
)

__all__ = [
    "MessageRecord",
    "OffsetsTopicError",
    "UnknownRecordTypeError",
    "decode",
    "encode_key",
    "encode_legacy_key",
    "encode_value",
]
