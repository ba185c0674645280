"""What happens to groups on a day beside ordinary commits: rebalances, resets, expiries, deletions, transactions. All of it stays."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec import to_builtins

from group_coordinator.codecs.records import log_entry
from group_coordinator.core.model.records import OffsetRecord, Reason, Record, TransactionMarker
from group_coordinator.core.model.topic_offsets import CommittedOffset
from group_coordinator.tables.thinning import DAY_MS
from tests.benchmarks.year.cluster import PARTITIONS, Cluster
from tests.benchmarks.year.commits import offsets_at

RESETS, EXPIRIES, DELETIONS = 2, 3, 1
"""A day, of groups that chance chooses."""
MINUTE_MS = 60_000
TRANSACTION_EVERY_MS = 30 * MINUTE_MS
Row = dict[str, Any]


class Lives:
    """Groups that live on from day to day."""

    def __init__(self, cluster: Cluster, random: np.random.Generator) -> None:
        self._cluster = cluster
        self._random = random
        self._generations = [0] * cluster.groups
        self._members = [cluster.members(number) for number in range(cluster.groups)]

    def day(self, number: int, begin_ms: int) -> pa.Table:
        """With the columns of commits.rows."""
        rows = [
            row for group in range(self._cluster.groups) for row in self._routine(group, begin_ms)
        ]
        for tell, count in (
            (self._reset, RESETS),
            (self._expiry, EXPIRIES),
            (self._deletion, DELETIONS),
        ):
            for group in self._chosen(count, number):
                rows += tell(
                    group,
                    begin_ms + int(self._random.integers(DAY_MS // 2, DAY_MS - 10 * MINUTE_MS)),
                )
        return pa.Table.from_pylist(rows, SCHEMA)

    def _chosen(self, count: int, day: int) -> list[int]:
        """Billing has its troubles once a month."""
        chosen = self._random.integers(0, self._cluster.groups, count).tolist()
        return [*chosen, 0] if day % 30 == count else chosen

    def _routine(self, group: int, begin_ms: int) -> Iterator[Row]:
        at_ms = begin_ms + int(self._random.integers(0, DAY_MS // 2))
        yield self._generation(group, at_ms, "sync")
        if self._cluster.is_transactional(group):
            for begun_ms in range(begin_ms, begin_ms + DAY_MS, TRANSACTION_EVERY_MS):
                yield from self._transaction(group, begun_ms)

    def _generation(self, group: int, at_ms: int, reason: str, *, is_empty: bool = False) -> Row:
        self._generations[group] += 1
        members = [] if is_empty else self._members[group]
        data = {
            "protocolType": "consumer",
            "generation": self._generations[group],
            "protocol": None if is_empty else "range",
            "leader": None if is_empty else members[0]["memberId"],
            "currentStateTimestamp": at_ms,
            "members": members,
        }
        return self._row(group, at_ms, reason, self._key(group), {"version": 4, "data": data})

    def _key(self, group: int) -> Row:
        return {"type": 2, "data": {"group": self._cluster.group(group)}}

    def _reset(self, group: int, at_ms: int) -> Iterator[Row]:
        yield self._generation(group, at_ms, "leave", is_empty=True)
        for partition in range(PARTITIONS):
            offset = self._offset(group, at_ms) - 1_000
            yield self._commit(group, partition, at_ms + MINUTE_MS, offset, principal="User:admin")
        yield self._generation(group, at_ms + 2 * MINUTE_MS, "sync")

    def _expiry(self, group: int, at_ms: int) -> Iterator[Row]:
        for partition in range(PARTITIONS):
            yield self._commit(group, partition, at_ms, None, Reason.OFFSET_EXPIRED)

    def _deletion(self, group: int, at_ms: int) -> Iterator[Row]:
        yield self._generation(group, at_ms, "leave", is_empty=True)
        for partition in range(PARTITIONS):
            yield self._commit(group, partition, at_ms + 1, None, Reason.GROUP_DELETED)
        yield self._row(group, at_ms + 1, "group-deleted", self._key(group), None)
        self._generations[group] = 0
        yield self._generation(group, at_ms + MINUTE_MS, "sync")

    def _transaction(self, group: int, at_ms: int) -> Iterator[Row]:
        topic, offset = self._cluster.topic(group), self._offset(group, at_ms)
        for partition in range(PARTITIONS):
            yield self._commit(group, partition, at_ms, offset, producer_id=group)
        offsets = tuple(
            (topic, partition, _stored(offset, at_ms)) for partition in range(PARTITIONS)
        )
        reason = Reason.TRANSACTION_COMMITTED
        yield self._record(group, at_ms + 100, TransactionMarker(group, offsets, reason), reason)

    def _commit(
        self,
        group: int,
        partition: int,
        at_ms: int,
        offset: int | None,
        reason: Reason = Reason.OFFSET_COMMIT,
        *,
        producer_id: int | None = None,
        principal: str | None = None,
    ) -> Row:
        topic = self._cluster.topic(group)
        value = None if offset is None else _stored(offset, at_ms)
        row = self._record(
            group, at_ms, OffsetRecord(topic, partition, value, reason, producer_id), reason
        )
        return row | {
            "topic": topic,
            "partition": partition,
            "offset": offset,
            "principal": principal,
        }

    def _offset(self, group: int, at_ms: int) -> int:
        return int(offsets_at(np.array([group]), np.array([at_ms]))[0])

    def _record(self, group: int, at_ms: int, record: Record, reason: Reason) -> Row:
        entry = log_entry.encode(self._cluster.group(group), record, None)
        key, value = (part and to_builtins(part) for part in (entry.key, entry.value))
        return self._row(group, at_ms, reason.value, key, value)

    def _row(self, group: int, at_ms: int, reason: str, key: Row, value: Row | None) -> Row:
        return {
            "group_id": self._cluster.group(group),
            "record_type": key["type"],
            "key": _text(key),
            "value": None if value is None else _text(value),
            "reason": reason,
            "at_ms": at_ms,
            "group_number": group,
        }


def _stored(offset: int, at_ms: int) -> CommittedOffset:
    return CommittedOffset(
        offset=offset,
        leader_epoch=None,
        metadata="",
        commit_timestamp_ms=at_ms,
        expire_timestamp_ms=None,
        topic_id=None,
    )


def _text(value: Row) -> str:
    return json.dumps(value, separators=(",", ":"))


SCHEMA = pa.schema(
    {
        **dict.fromkeys(("group_id",), pa.string()),
        "record_type": pa.int32(),
        **dict.fromkeys(("key", "value", "topic"), pa.string()),
        "partition": pa.int32(),
        "offset": pa.int64(),
        **dict.fromkeys(("reason", "principal"), pa.string()),
        **dict.fromkeys(("at_ms",), pa.int64()),
        "group_number": pa.int32(),
    }
)
"""What both kinds of rows have."""
