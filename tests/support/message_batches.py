"""Messages of __consumer_offsets as Spark hands them to the mirror's tasks, and what its decoder is to make of them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from msgspec import json

from group_coordinator.codecs.offsets_topic import OffsetsTopicError, decode_entry

SCHEMA = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("us", "UTC")),
    ]
)
"""Of a batch of messages."""

Bytes = tuple[bytes | None, bytes | None]


def batch_of(messages: Sequence[Bytes], partition: int = 0) -> pa.RecordBatch:
    """All in one partition, at offsets from 0 on, a second apart."""
    rows = [
        {
            "key": key,
            "value": value,
            "partition": partition,
            "offset": offset,
            "timestamp": offset * 1_000_000,
        }
        for offset, (key, value) in enumerate(messages)
    ]
    return pa.RecordBatch.from_pylist(rows, SCHEMA)


def expected(message: Bytes) -> dict[str, Any]:
    """What depends on the bytes alone in the row of a message, by the decoder of single messages."""
    key, value = message
    row: dict[str, Any] = dict.fromkeys(
        ("group_id", "record_type", "key", "value", "topic", "partition", "member_id", "offset")
    )
    try:
        group_id, entry = decode_entry(key, None)
        row |= {
            "group_id": group_id,
            "record_type": entry.key.type,
            "key": json.encode(entry.key).decode(),
            "topic": entry.topic,
            "partition": entry.partition,
            "member_id": entry.member_id,
        }
        if value is not None:
            _, entry = decode_entry(key, value)
            row |= {"value": json.encode(entry.value).decode(), "offset": entry.offset}
    except OffsetsTopicError as fault:
        return raw_row(message, str(fault), row["group_id"] or "")
    return row | {"letter": None}


def raw_row(message: Bytes, fault: str, group_id: str) -> dict[str, Any]:
    """The same of a message that was not taken."""
    key, value = message
    as_text = [None if part is None else b64encode(part).decode() for part in message]
    about = {"type": -3, "data": {"raw": as_text[0], "fault": fault}}
    says = None if value is None else {"version": 0, "data": {"raw": as_text[1]}}
    return {
        "group_id": group_id,
        "record_type": -3,
        "key": json.encode(about).decode(),
        "value": says and json.encode(says).decode(),
        **dict.fromkeys(("topic", "partition", "member_id", "offset")),
        "letter": {"reason": fault, "key": key, "value": value},
    }
