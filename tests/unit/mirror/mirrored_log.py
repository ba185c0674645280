"""The log of a live cluster's group as a test tells it, and what is inferred of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import json

from group_coordinator.mirror.group_so_far import GroupSoFar, LoggedRow
from group_coordinator.mirror.inference import ClusterFacts, infer_reasons
from group_coordinator.tables.compaction.rows import GroupRows
from tests.support.log_rows import member

HOUR = 3_600_000
TOPICS = {"orders": "id-of-orders", "refunds": "id-of-refunds"}


class MirroredLog:
    """Rows of one group, appended one after the other; retention is an hour.

    `batch_id` and `reason` are those of the next rows; `topics` are those that the cluster has.
    """

    def __init__(
        self,
        topics: Mapping[str, str] = TOPICS,
        before: GroupRows | None = None,
        reason: str = "mirrored",
    ) -> None:
        self.batch_id = 0
        self.reason = reason
        self.topics = topics
        self.before = before or GroupRows()
        self.rows: list[LoggedRow] = []

    def commit(self, at_ms: int, *partitions: str, **value: Any) -> None:
        """Offset 7 of "orders-0"."""
        for partition in partitions:
            data = {"offset": 7, "leaderEpoch": -1, "metadata": "", "commitTimestamp": at_ms}
            self._offset(at_ms, partition, data | value)

    def lose(self, at_ms: int, *partitions: str) -> None:
        for partition in partitions:
            self._offset(at_ms, partition, None)

    def classic(self, at_ms: int, *subscribed: str, **value: Any) -> None:
        """A classic group with a member that subscribes to these topics; without topics it is Empty."""
        members = [member("m", [*subscribed], {})] if subscribed else []
        data = {
            "protocolType": "consumer",
            "generation": 1,
            "protocol": "range" if members else None,
            "leader": "m" if members else None,
            "currentStateTimestamp": at_ms,
            "members": members,
        }
        self.add(at_ms, 2, {"group": "g"}, data | value)

    def consumer(self, at_ms: int, *subscribed: str) -> None:
        """A consumer group with a member that subscribes to these topics; without topics it has none."""
        data = {
            "instanceId": None,
            "rackId": None,
            "clientId": "client",
            "clientHost": "/127.0.0.1",
            "subscribedTopicNames": [*subscribed],
            "subscribedTopicRegex": "",
            "rebalanceTimeoutMs": 60_000,
            "serverAssignor": None,
        }
        about = {"groupId": "g", "memberId": "m"}
        self.add(at_ms, 5, about, data if subscribed else None)
        self.add(at_ms, 3, {"groupId": "g"}, {"epoch": 2})

    def end(self, at_ms: int, record_type: int = 2) -> None:
        """The group's tombstone."""
        self.add(at_ms, record_type, {"group": "g"}, None)

    def add(
        self, at_ms: int, record_type: int, key: dict[str, Any], data: dict[str, Any] | None
    ) -> None:
        self.rows.append(
            LoggedRow(
                batch_id=self.batch_id,
                seq=len(self.rows),
                record_type=record_type,
                key=json.encode({"type": record_type, "data": key}).decode(),
                value=None if data is None else json.encode({"version": 0, "data": data}).decode(),
                topic=key.get("topic"),
                partition=key.get("partition"),
                event_time=at_ms,
                reason=self.reason,
                source_partition=0,
                source_offset=len(self.rows),
            )
        )

    def _offset(self, at_ms: int, partition: str, data: dict[str, Any] | None) -> None:
        topic, _, number = partition.rpartition("-")
        self.add(at_ms, 1, {"group": "g", "topic": topic, "partition": int(number)}, data)

    def reasons(self, unseen: Iterable[str] = ()) -> list[str]:
        """Of the tombstones in the last batch, in the order of the log: "orders-0 offset-expired", "group mirrored"."""
        cluster = ClusterFacts(HOUR, self.topics, frozenset(unseen))
        found = infer_reasons(GroupSoFar("g", self.before), self.rows, self.batch_id, cluster)
        by_place = {one.source_offset: one.reason for one in found}
        return [
            f"{_name(row)} {by_place.get(row.source_offset, self.reason)}"
            for row in self.rows
            if row.batch_id == self.batch_id and (row.is_lost_offset or row.is_end_of_group)
        ]

    def next_batch(self) -> None:
        """Append what there is, with its reasons."""
        cluster = ClusterFacts(HOUR, self.topics)
        found = infer_reasons(GroupSoFar("g", self.before), self.rows, self.batch_id, cluster)
        for one in found:
            row = self.rows[one.source_offset]
            self.rows[one.source_offset] = row._replace(reason=one.reason)
        self.batch_id += 1


def _name(row: LoggedRow) -> str:
    return "group" if row.topic is None else f"{row.topic}-{row.partition}"
