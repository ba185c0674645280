"""How offsets and groups end: messages of a real broker's __consumer_offsets, as a mirror has them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from msgspec import json

from group_coordinator.codecs.offsets_topic import decode_entry
from group_coordinator.mirror.group_so_far import LoggedRow
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from tests.broker.clients.java_clients import WORDS, repartitioned

RECORDED: Final = Path(__file__).parents[1] / "data" / "endings.jsonl"
RETENTION_MS: Final = 60_000
"""Of the broker that wrote it."""

_EXPIRED = ["orders-0 offset-expired", "group group-expired"]

ENDINGS: Final[Mapping[str, list[str]]] = {
    "simple expires": ["orders-0 offset-expired", "orders-1 offset-expired", "group group-expired"],
    "classic expires": [
        "orders-0 offset-expired",
        "orders-1 offset-expired",
        "group group-expired",
    ],
    "consumer expires": _EXPIRED,
    "unsubscribed expires": ["refunds-0 offset-expired"],
    "explicit expires": _EXPIRED,
    "nothing expires": ["group group-expired"],
    "simple deleted": ["orders-0 group-deleted", "group group-deleted", *_EXPIRED],
    "classic deleted": ["orders-0 group-deleted", "orders-1 group-deleted", "group group-deleted"],
    "consumer deleted": ["orders-0 group-deleted", "group group-deleted"],
    "part deleted": ["refunds-1 offset-deleted", "refunds-0 offset-deleted", *_EXPIRED],
    "live deleted": ["group mirrored", "refunds-0 offset-deleted", "refunds-1 offset-deleted"],
    "topic gone": ["gone-0 topic-deleted", "gone-1 topic-deleted", *_EXPIRED],
    "reader of gone": ["gone-0 topic-deleted", "gone-1 topic-deleted", "group group-expired"],
    "topic again": ["again-0 topic-deleted", "group mirrored"],
    "converted online": ["group mirrored", "group mirrored"],
    "converted empty": [
        *("group mirrored", "group mirrored"),
        *("orders-0 group-deleted", "group group-deleted"),
    ],
    "moved classic": [],
    "moved consumer": [],
    "transaction deleted": ["orders-0 group-deleted", "orders-1 mirrored", "group group-deleted"],
    "streams-expires": [
        f"{repartitioned('streams-expires')}-1 offset-expired",
        f"{WORDS}-0 offset-expired",
        f"{WORDS}-1 offset-expired",
        f"{repartitioned('streams-expires')}-0 offset-expired",
        "group group-expired",
    ],
    "streams-deleted": [
        f"{repartitioned('streams-deleted')}-0 group-deleted",
        f"{repartitioned('streams-deleted')}-1 group-deleted",
        f"{WORDS}-0 group-deleted",
        f"{WORDS}-1 group-deleted",
        "group group-deleted",
    ],
    "share stays": [],
    "share deleted": ["group group-deleted"],
}
"""What was done to each group, as its tombstones are to tell it, in the order of the log.

A group that has become one of another kind, or has only stored offsets and has none, leaves a tombstone that tells nothing.
"""


class GroupSaid(NamedTuple):
    """A group as a broker tells of it; offsets by topic and partition."""

    kind: str
    state: str
    offsets: Mapping[tuple[str, int], int]


class Recording(NamedTuple):
    """Rows as the mirror's log has them, by column name, and what the broker said at the end: topics' ids, and its groups."""

    rows: list[dict[str, Any]]
    topics: Mapping[str, str]
    groups: Mapping[str, GroupSaid]


def recording() -> Recording:
    """The file."""
    first, *messages = map(json.decode, RECORDED.read_bytes().splitlines())
    return Recording(
        [_row(number, message) for number, message in enumerate(messages)],
        first["topics"],
        {group_id: _said(group) for group_id, group in first["groups"].items()},
    )


def in_the_table(
    row: Mapping[str, Any], batch_id: int = 0, reason: str = "mirrored"
) -> dict[str, Any]:
    """A row with all columns of coordinator_log."""
    when = datetime.fromtimestamp(row["event_time_ms"] / 1000, UTC)
    beside = {
        "cluster_id": "live",
        "source_topic": "__consumer_offsets",
        "event_time": when,
        "ingested_at": when,
        "batch_id": batch_id,
        "reason": reason,
        "inferred": reason != "mirrored",
    }
    known = {**row, **beside}
    return {name: known.get(name) for name in COORDINATOR_LOG.schema.names}


def as_logged(row: Mapping[str, Any], batch_id: int = 0) -> LoggedRow:
    """A row as the inference takes it."""
    known = {**row, "batch_id": batch_id, "event_time": row["event_time_ms"]}
    return LoggedRow(**{name: known[name] for name in LoggedRow._fields})


def _said(group: Mapping[str, Any]) -> GroupSaid:
    offsets = {
        (topic, int(partition)): offset
        for topic, of_topic in group["offsets"].items()
        for partition, offset in of_topic.items()
    }
    return GroupSaid(group["type"], group["state"], offsets)


def _row(number: int, message: dict[str, Any]) -> dict[str, Any]:
    value = message["value"]
    group_id, entry = decode_entry(
        bytes.fromhex(message["key"]), None if value is None else bytes.fromhex(value)
    )
    return {
        "group_id": group_id,
        "record_type": entry.key.type,
        "key": json.encode(entry.key).decode(),
        "value": None if entry.value is None else json.encode(entry.value).decode(),
        "topic": entry.topic,
        "partition": entry.partition,
        "member_id": entry.member_id,
        "offset": entry.offset,
        "reason": "mirrored",
        "event_time_ms": message["timestamp"],
        "source_partition": 0,
        "source_offset": message["offset"],
        "seq": number,
    }
