"""Conversion between the bytes of Kafka's __consumer_offsets, rows of the log as Kafka's formatter prints them, and core's records.

The layout of every record type and version is data (`schemas.py`, in the notation of `binary`).
"""

from __future__ import annotations

from group_coordinator.codecs.offsets_topic.messages import (
    DamagedMessageError,
    MessageRecord,
    OffsetsTopicError,
    UnknownRecordTypeError,
    UnknownVersionError,
    decode,
    decode_entry,
    encode,
    encode_entry,
)

__all__ = [
    "DamagedMessageError",
    "MessageRecord",
    "OffsetsTopicError",
    "UnknownRecordTypeError",
    "UnknownVersionError",
    "decode",
    "decode_entry",
    "encode",
    "encode_entry",
]
