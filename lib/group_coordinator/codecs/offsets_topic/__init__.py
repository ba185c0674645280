"""Kafka's __consumer_offsets, byte for byte: rows of the log, and core's records, on the other side.

The layout of every record type and version is data (`schemas.py`, in the notation of `binary`). Bytes become a row of the log, as
Kafka's own formatter prints it, and back (`entries.py`). `codecs/records` converts rows to core's records;
`messages.py` joins the two.
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
