"""Conversion between the bytes of Kafka's __consumer_offsets, rows of the log, and core's records.

The layout of every record type and version is data (`schemas.py`, in the notation of `binary`). `messages.py` converts bytes to
a row of the log, as Kafka's own formatter prints it, and back. With `codecs/records`, which converts rows to core's records, it
also converts bytes to core's records.
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
