"""Rows of coordinator_log as a test writes them down."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from struct import pack
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from group_coordinator.tables.coordinator_log import COORDINATOR_LOG

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Row = tuple[Any, ...]


@dataclass
class Log:
    """Collects rows; every row comes one second after the one before it, unless `now_ms` is set."""

    batch_id: int = 0
    now_ms: int = 0
    rows: list[Row] = field(default_factory=list)

    def commit(self, group: str, topic: str, partition: int, offset: int, **value: Any) -> None:
        data = {"offset": offset, "leaderEpoch": -1, "metadata": "", "commitTimestamp": self.now_ms}
        self._offset(group, topic, partition, {"version": 4, "data": data | value}, offset)

    def forget(self, group: str, topic: str, partition: int) -> None:
        self._offset(group, topic, partition, None, None)

    def group(self, group: str, members: list[dict[str, Any]], **value: Any) -> None:
        data = {
            "protocolType": "consumer",
            "generation": 1,
            "protocol": "range",
            "leader": members[0]["memberId"] if members else None,
            "currentStateTimestamp": self.now_ms,
            "members": members,
        }
        self._row(group, 2, {"group": group}, {"version": 3, "data": data | value})

    def end(self, group: str) -> None:
        self._row(group, 2, {"group": group}, None)

    def frame(self, spark: SparkSession) -> DataFrame:
        return spark.createDataFrame(self.rows, COORDINATOR_LOG.schema)

    def _offset(
        self, group: str, topic: str, partition: int, value: object, offset: int | None
    ) -> None:
        key = {"group": group, "topic": topic, "partition": partition}
        self._row(group, 1, key, value, topic, partition, offset)

    def _row(
        self,
        group: str,
        kind: int,
        key: object,
        value: object,
        topic: str | None = None,
        partition: int | None = None,
        offset: int | None = None,
    ) -> None:
        when = EPOCH + timedelta(milliseconds=self.now_ms)
        self.rows.append(
            (
                *("test", group, kind, json.dumps({"type": kind, "data": key})),
                None if value is None else json.dumps(value),
                *(topic, partition, None, offset, "a reason", None, when),
                *("group-events", 0, len(self.rows), self.batch_id, len(self.rows), when),
            )
        )
        self.now_ms += 1_000


def member(member_id: str, subscribed: list[str], assigned: dict[str, list[int]]) -> dict[str, Any]:
    """A member inside a GroupMetadata value."""
    return {
        "memberId": member_id,
        "groupInstanceId": None,
        "clientId": "client",
        "clientHost": "/127.0.0.1",
        "rebalanceTimeout": 60_000,
        "sessionTimeout": 45_000,
        "subscription": b64encode(_version_and_topics(subscribed) + pack(">i", -1)).decode(),
        "assignment": b64encode(_assignment(assigned)).decode(),
    }


def _version_and_topics(topics: list[str]) -> bytes:
    return pack(">hi", 0, len(topics)) + b"".join(map(_text, topics))


def _assignment(assigned: dict[str, list[int]]) -> bytes:
    topics = b"".join(
        _text(topic) + pack(f">i{len(partitions)}i", len(partitions), *partitions)
        for topic, partitions in assigned.items()
    )
    return pack(">hi", 0, len(assigned)) + topics + pack(">i", -1)


def _text(text: str) -> bytes:
    return pack(">h", len(text)) + text.encode()
