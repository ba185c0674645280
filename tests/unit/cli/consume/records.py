"""Records as kafka-python gives them."""

from __future__ import annotations

from typing import Any

from kafka.consumer.fetcher import ConsumerRecord

SENT_MS = 1_700_000_000_000


def record(
    offset: int,
    value: bytes | None = b"v",
    key: bytes | None = None,
    headers: list[tuple[str, bytes | None]] | None = None,
    **more: Any,
) -> ConsumerRecord:
    fields = {
        "topic": "orders",
        "partition": 0,
        "leader_epoch": 0,
        "offset": offset,
        "timestamp": SENT_MS,
        "timestamp_type": 0,
        "key": key,
        "value": value,
        "headers": headers or [],
        "checksum": None,
        "serialized_key_size": 0,
        "serialized_value_size": 0,
        "serialized_header_size": 0,
    }
    return ConsumerRecord(**{**fields, **more})
