"""Messages of __consumer_offsets as Spark hands them to the mirror's tasks, and what its decoder is to make of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from msgspec import json

from group_coordinator.codecs.offsets_topic import OffsetsTopicError, decode_entry

_FIELDS = [
    ("key", pa.binary()),
    ("value", pa.binary()),
    ("partition", pa.int32()),
    ("offset", pa.int64()),
    ("timestamp", pa.timestamp("us", "UTC")),
]
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
    return pa.RecordBatch.from_pylist(rows, pa.schema(_FIELDS))


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
        return row | {"letter": {"reason": str(fault), "key": key, "value": value}}
    return row | {"letter": None}
