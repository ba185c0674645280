"""Rows of coordinator_log as a mirror writes them, written down by hand."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from group_coordinator.tables.compaction.fold import fold
from group_coordinator.tables.compaction.offset_rows import Retention
from group_coordinator.tables.compaction.rows import (
    GroupKey,
    GroupRow,
    GroupRows,
    LogEntry,
    MemberRow,
    OffsetRow,
)

MINUTE = Retention(retention_ms=60_000, check_interval_ms=10_000)
KEY = GroupKey("eu-1", "g")
JsonObject = dict[str, Any]


@dataclass
class MirroredLog:
    """Rows of group `g`, each a second after the one before."""

    entries: list[LogEntry] = field(default_factory=list)
    now_ms: int = 1_000

    def record(self, record_type: int, data: JsonObject | None, **key: Any) -> None:
        """A record; None: its tombstone. The group's name is in each key under Kafka's name for it."""
        group = {"group": "g"} if record_type in {0, 1, 2} else {"groupId": "g"}
        about = json.dumps({"type": record_type, "data": group | key})
        value = None if data is None else json.dumps({"version": 0, "data": data})
        self.put(about, value)

    def put(self, key: str, value: str | None, reason: str = "mirrored") -> None:
        place = (len(self.entries), 0)
        inferred = reason != "mirrored"
        self.entries.append(LogEntry(*place, key, value, self.now_ms, reason, inferred))
        self.now_ms += 1_000

    def commit(self, topic: str, partition: int, offset: int, **more: Any) -> None:
        data = {"offset": offset, "metadata": "", "commitTimestamp": self.now_ms}
        self.record(1, data | more, topic=topic, partition=partition)

    def forget(self, topic: str, partition: int) -> None:
        self.record(1, None, topic=topic, partition=partition)


class MirroredTables:
    """The rows of the group, kept up by folding its log as it comes."""

    def __init__(self, topic_names: dict[str, str] | None = None) -> None:
        self.rows = GroupRows()
        self.topic_names = topic_names or {}
        self._taken = 0

    def take(self, log: MirroredLog) -> None:
        """What is new in the log."""
        new, self._taken = log.entries[self._taken :], len(log.entries)
        for _, delete, row in list(fold(KEY, self.rows, new, MINUTE, self.topic_names)):
            if not delete:
                self.rows.add(row)
            elif isinstance(row, GroupRow):
                self.rows.group = None
            elif isinstance(row, MemberRow):
                del self.rows.members[row.member_id]
            elif isinstance(row, OffsetRow):
                del self.rows.offsets[row.topic, row.partition]

    @property
    def group(self) -> GroupRow:
        assert self.rows.group is not None
        return self.rows.group

    def assigned(self, member_id: str) -> list[tuple[str, int]] | None:
        held = self.rows.members[member_id].assigned_partitions
        return None if held is None else [(each.topic, each.partition) for each in held]
