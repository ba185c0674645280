"""Rows of coordinator_log as a mirror writes them, written down by hand."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import Transaction, write_deltalake
from msgspec import structs

from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.compaction import compaction
from group_coordinator.tables.compaction.rows import (
    ENTRY_COLUMNS,
    ConfigRow,
    GroupKey,
    GroupRow,
    GroupRows,
    MemberRow,
    OffsetRow,
    Retention,
    StoredLogEntry,
    TableRow,
)
from group_coordinator.tables.compaction.spark import Change, apply_entries
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.creation import TABLES
from group_coordinator.tables.topic_ids import TOPIC_IDS, topic_id_rows
from tests.support.log_rows import EPOCH

LATER_MS = 1_764_000_000_000
"""When the cluster's topics were first described: long after the records."""
MINUTE = Retention(retention_ms=60_000, check_interval_ms=10_000)
KEY = GroupKey("eu-1", "g")
JsonObject = dict[str, Any]


@dataclass
class MirroredLog:
    """Rows of a group, each a second after the one before."""

    entries: list[StoredLogEntry] = field(default_factory=list)
    now_ms: int = 1_000
    key: GroupKey = KEY

    def record(self, record_type: int, data: JsonObject | None, **key: Any) -> None:
        """A record; None: its tombstone. The group's name is in each key under Kafka's name for it."""
        name = "group" if record_type in {0, 1, 2} else "groupId"
        about = json.dumps({"type": record_type, "data": {name: self.key.group_id} | key})
        value = None if data is None else json.dumps({"version": 0, "data": data})
        self.put(about, value)

    def put(self, key: str, value: str | None, reason: str = "mirrored") -> None:
        place = (len(self.entries), 0)
        inferred = reason != "mirrored"
        self.entries.append(StoredLogEntry(*place, key, value, self.now_ms, reason, inferred))
        self.now_ms += 1_000

    def commit(self, topic: str, partition: int, offset: int, **more: Any) -> None:
        data = {"offset": offset, "metadata": "", "commitTimestamp": self.now_ms}
        self.record(1, data | more, topic=topic, partition=partition)

    def forget(self, topic: str, partition: int) -> None:
        self.record(1, None, topic=topic, partition=partition)


def table_rows(log: MirroredLog) -> pa.Table:
    """The log with all columns of coordinator_log."""
    schema = COORDINATOR_LOG.no_rows().schema
    rows = [_row(log.key, entry, schema.names) for entry in log.entries]
    return pa.Table.from_pylist(rows, schema)


def _row(group: GroupKey, entry: StoredLogEntry, names: list[str]) -> JsonObject:
    key = json.loads(entry.key)
    data = {} if entry.value is None else json.loads(entry.value)["data"]
    when = EPOCH + timedelta(milliseconds=entry.event_time)
    known = {
        **group._asdict(),
        **structs.asdict(entry),
        "record_type": key["type"],
        "topic": key["data"].get("topic"),
        "partition": key["data"].get("partition"),
        "member_id": key["data"].get("memberId"),
        "offset": data.get("offset"),
        "source_topic": "__consumer_offsets",
        "source_partition": 0,
        "source_offset": entry.batch_id,
        "event_time": when,
        "ingested_at": when,
    }
    return {name: known.get(name) for name in names}


def tables_of_mirror(root: Path, log: MirroredLog, topic_names: dict[str, str]) -> str:
    """The tables under a folder: the log, the ids of topics, and what compaction makes of them."""
    for table in TABLES:
        table.create_on_disk(root / table.name)
    rows, ids = table_rows(log), topic_id_rows(KEY.cluster_id, topic_names, LATER_MS)
    write_deltalake(root / COORDINATOR_LOG.name, rows, mode="append")
    write_deltalake(root / TOPIC_IDS.name, ids, mode="append")
    entries = rows.select([*GroupKey._fields, *ENTRY_COLUMNS])
    compaction.compact(
        TableCatalog(str(root)), KEY.cluster_id, entries, MINUTE, Transaction("mirror", 0)
    )
    return str(root)


class FoldedTables:
    """The rows of a group, kept up by folding its log."""

    key = KEY

    def __init__(self, topic_names: dict[str, str] | None = None) -> None:
        self.rows = GroupRows()
        self.topic_names = topic_names or {}

    def take_entries(self, log: list[StoredLogEntry]) -> list[Change]:
        changes = [*apply_entries(self.key, self.rows, log, MINUTE, self.topic_names)]
        for change in changes:
            if change.delete:
                self._remove(change.row)
            else:
                self.rows.add(change.row)
        return changes

    def _remove(self, row: TableRow) -> None:
        match row:
            case GroupRow():
                self.rows.group = None
            case MemberRow():
                del self.rows.members[row.member_id]
            case OffsetRow():
                del self.rows.offsets[row.topic, row.partition]
            case ConfigRow():
                del self.rows.configs[row.name]

    @property
    def group(self) -> GroupRow:
        assert self.rows.group is not None
        return self.rows.group


class MirroredTables(FoldedTables):
    """The rows of the group of a mirrored log, as it comes."""

    taken = 0

    def take(self, log: MirroredLog) -> None:
        """What is new in the log."""
        new, self.taken = log.entries[self.taken :], len(log.entries)
        self.take_entries(new)

    def assigned(self, member_id: str) -> list[tuple[str, int]] | None:
        held = self.rows.members[member_id].assigned_partitions
        return None if held is None else [(each.topic, each.partition) for each in held]
