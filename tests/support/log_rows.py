"""Rows of coordinator_log as a test writes them down."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from struct import pack
from typing import Any, NamedTuple

import pyarrow as pa
from msgspec import to_builtins
from pyspark.sql import DataFrame, SparkSession

from group_coordinator.codecs.records import log_entry
from group_coordinator.core.model.records import Record
from group_coordinator.core.model.requests import Topic
from group_coordinator.tables.compaction.rows import ENTRY_COLUMNS, GroupKey
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
JsonObject = dict[str, Any]


class LogRow(NamedTuple):
    group_id: str
    record_type: int
    key: str
    value: str | None
    at_ms: int
    batch_id: int
    seq: int


@dataclass
class Log:
    """Collects rows; every row comes one second after the one before it."""

    batch_id: int = 0
    now_ms: int = 0
    cluster_id: str = "test"
    rows: list[LogRow] = field(default_factory=list)

    def commit(self, group: str, topic: str, partition: int, offset: int, **value: Any) -> None:
        data = {"offset": offset, "leaderEpoch": -1, "metadata": "", "commitTimestamp": self.now_ms}
        self._add(group, 1, offset_key(group, topic, partition), data | value)

    def forget(self, group: str, topic: str, partition: int) -> None:
        self._add(group, 1, offset_key(group, topic, partition), None)

    def group(self, group: str, members: list[JsonObject], **value: Any) -> None:
        data = {
            "protocolType": "consumer",
            "generation": 1,
            "protocol": "range",
            "leader": members[0]["memberId"] if members else None,
            "currentStateTimestamp": self.now_ms,
            "members": members,
        }
        self._add(group, 2, {"group": group}, data | value)

    def record(self, group: str, record: Record, topics: dict[str, Topic] | None = None) -> None:
        """A record as the job logs it, while the group knows these topics."""
        entry = log_entry.encode(group, record, topics)
        key = json.dumps(to_builtins(entry.key))
        value = None if entry.value is None else json.dumps(to_builtins(entry.value))
        self._put(group, entry.key.type, key, value)

    def end(self, group: str) -> None:
        self._add(group, 2, {"group": group}, None)

    def frame(self, spark: SparkSession) -> DataFrame:
        return spark.createDataFrame(
            [in_the_table(row, self.cluster_id) for row in self.rows], COORDINATOR_LOG.schema
        )

    def entries(self) -> pa.Table:
        """As compaction takes them on the driver."""
        columns = COORDINATOR_LOG.schema.names
        wanted = {*GroupKey._fields, *ENTRY_COLUMNS}
        return self.table().select([name for name in columns if name in wanted])

    def table(self, **others: object) -> pa.Table:
        """As they are appended on a local disk; each row has these `others` too."""
        columns = COORDINATOR_LOG.no_rows().schema
        rows = (in_the_table(row, self.cluster_id) for row in self.rows)
        whole = [dict(zip(columns.names, row, strict=True)) | others for row in rows]
        return pa.Table.from_pylist(whole, columns)

    def _add(self, group: str, kind: int, key: JsonObject, data: JsonObject | None) -> None:
        value = None if data is None else json.dumps({"version": 4, "data": data})
        self._put(group, kind, json.dumps({"type": kind, "data": key}), value)

    def _put(self, group: str, kind: int, key: str, value: str | None) -> None:
        place = (self.now_ms, self.batch_id, len(self.rows))
        self.rows.append(LogRow(group, kind, key, value, *place))
        self.now_ms += 1_000


def offset_key(group: str, topic: str, partition: int) -> JsonObject:
    return {"group": group, "topic": topic, "partition": partition}


def in_the_table(row: LogRow, cluster_id: str) -> tuple[object, ...]:
    when = EPOCH + timedelta(milliseconds=row.at_ms)
    known = {
        **row._asdict(),
        "cluster_id": cluster_id,
        "reason": "a reason",
        "event_time": when,
        "ingested_at": when,
    }
    return tuple(known.get(name) for name in COORDINATOR_LOG.schema.names)


def member(member_id: str, subscribed: list[str], assigned: dict[str, list[int]]) -> JsonObject:
    """A member inside a GroupMetadata value."""
    return {
        "memberId": member_id,
        "groupInstanceId": None,
        "clientId": "client",
        "clientHost": "/127.0.0.1",
        "rebalanceTimeout": 60_000,
        "sessionTimeout": 45_000,
        "subscription": b64encode(encode_subscription(subscribed)).decode(),
        "assignment": b64encode(encode_assignment(assigned)).decode(),
    }


def encode_subscription(topics: list[str]) -> bytes:
    return pack(">hi", 0, len(topics)) + b"".join(map(encode_text, topics)) + pack(">i", -1)


def encode_assignment(assigned: dict[str, list[int]]) -> bytes:
    topics = b"".join(
        encode_text(topic) + pack(f">i{len(partitions)}i", len(partitions), *partitions)
        for topic, partitions in assigned.items()
    )
    return pack(">hi", 0, len(assigned)) + topics + pack(">i", -1)


def encode_text(text: str) -> bytes:
    return pack(">h", len(text)) + text.encode()
