"""A record type: its number and name, the fields of its key, the fields and the versions of its value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from group_coordinator.binary.notation import Field, Message, int32, int64, string

Fields: TypeAlias = tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """A record type. The first field of the key is the group."""

    type: int
    key: Message
    value: Message


def record(
    record_type: int,
    name: str,
    *,
    key: Fields,
    value: Fields,
    last_version: int = 0,
    flexible_since: int | None = 0,
) -> Record:
    """Define a record type. `last_version` and `flexible_since` are about the value; keys have version 0, which is not flexible."""
    return Record(
        record_type,
        Message(f"{name}Key", range(1), None, key),
        Message(f"{name}Value", range(last_version + 1), flexible_since, value),
    )


GROUP_KEY = (string("groupId"),)
MEMBER_KEY = (string("groupId"), string("memberId"))
TARGET_EPOCH = (int32("assignmentEpoch"), int64("assignmentTimestamp", tag=0))
"""The value of the same record in consumer, share and streams groups."""
