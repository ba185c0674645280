"""A record as the texts that the log's table gets."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from group_coordinator.codecs.records import log_entry
from group_coordinator.core.model.records import Record

OFFSET_KEY = '{"type":1,"data":{"group":"g","topic":"orders","partition":2}}'
GROUP_KEY = '{"type":2,"data":{"group":"g"}}'


class LoggedTexts(NamedTuple):
    record_type: int
    key: str
    value: str | None
    topic: str | None = None
    partition: int | None = None
    member_id: str | None = None
    offset: int | None = None


def logged(group_id: str, record: Record) -> LoggedTexts:
    """The log's row with key and value as the texts that the table gets."""
    entry = log_entry.encode(group_id, record)
    facts = (entry.topic, entry.partition, entry.member_id, entry.offset)
    value = None if entry.value is None else text(entry.value)
    return LoggedTexts(entry.key.type, text(entry.key), value, *facts)


def text(value: object) -> str:
    return msgspec.json.encode(value).decode()
