"""Committed offsets of an earlier time by the tables, without Spark and without a JVM: for `restore` and `export`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa
from kafka import OffsetAndMetadata, TopicPartition

from group_coordinator.clients.as_of_time import AsOfTime
from group_coordinator.clients.errors import NotRestorableError
from group_coordinator.clients.query_results import without_views
from group_coordinator.clients.sql_tables import query, rows
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.tables.views.definition import in_datafusion, is_one_of

Topics: TypeAlias = Mapping[str, Collection[int] | None]
"""Chosen partitions by topic, None: all of the topic. Without topics all partitions are chosen."""
NO_EPOCH = -1
_OF_MIRROR = "mirror"
"""Last folder of a mirror's checkpoint: the name of its query."""
EXPORTED = pa.schema(
    [
        pa.field("cluster_id", pa.string(), nullable=False),
        pa.field("group_id", pa.string(), nullable=False),
        pa.field("topic", pa.string(), nullable=False),
        pa.field("partition", pa.int32(), nullable=False),
        pa.field("committed_offset", pa.int64(), nullable=False),
        pa.field("leader_epoch", pa.int32()),
        pa.field("metadata", pa.string()),
        pa.field("commit_timestamp", pa.timestamp("us", "UTC"), nullable=False),
        pa.field("topic_id", pa.string()),
    ]
)
"""Columns of an export, as in the table `offsets`."""


class Owner(NamedTuple):
    """The owner of a cluster's rows: a mirror of Kafka's own groups, or the job that coordinates the groups of `events_topic`."""

    is_mirror: bool
    events_topic: str


class PastOffset(NamedTuple):
    """Committed offset of an earlier time."""

    committed: OffsetAndMetadata
    topic_id: str | None
    """None: the commit had none."""


PastOffsets: TypeAlias = Mapping[TopicPartition, PastOffset]


class Reset(NamedTuple):
    """Changes of a group's offsets at one time, by one sender. `principal` is None if the tables do not know the sender."""

    at: datetime
    change: str
    principal: str | None
    partitions: int

    @property
    def time_before(self) -> datetime:
        """Last time of the log before the changes: it has whole milliseconds."""
        return self.at - timedelta(milliseconds=1)


def owner_of(root: str, cluster_id: str) -> Owner:
    """Return the owner of a cluster by the newest claim. Raises NotRestorableError: there is none; TablesUnavailableError and QueryError."""
    claims = rows(
        root,
        f"SELECT checkpoint, events_topic FROM writers WHERE cluster_id = {in_datafusion(cluster_id)} "  # noqa: S608 - quoted
        "ORDER BY epoch DESC LIMIT 1",
    )
    if not claims:
        raise NotRestorableError(
            f"tables.root = {root} has no rows of cluster.id = {cluster_id}: set --cluster to the name of "
            "a mirror or of a job"
        )
    folder = claims[0]["checkpoint"].rstrip("/").rpartition("/")[2]
    return Owner(folder == _OF_MIRROR, claims[0]["events_topic"])


@dataclass(frozen=True, slots=True)
class PastTables:
    """Offsets and resets of some groups of a cluster. All methods raise TablesUnavailableError and QueryError."""

    root: str
    cluster_id: str
    group_ids: Sequence[str]
    topics: Topics

    def offsets(
        self, times: Mapping[str, datetime], config: CoordinatorConfig
    ) -> dict[str, dict[TopicPartition, PastOffset]]:
        """Offsets of each group as of its own time."""
        found: dict[str, dict[TopicPartition, PastOffset]] = {group_id: {} for group_id in times}
        # Groups with the same time share a compaction of their log.
        for at in set(times.values()):
            condition = self._are([group_id for group_id, time in times.items() if time == at])
            sql = (
                "SELECT group_id, topic, `partition`, committed_offset, leader_epoch, metadata, topic_id FROM offsets "  # noqa: S608 - quoted
                f"WHERE {condition} AND committed_offset >= 0"
            )
            for row in query(self.root, sql, AsOfTime(at, config, condition)).to_pylist():
                partition = TopicPartition(row["topic"], row["partition"])
                if is_chosen(partition, self.topics):
                    found[row["group_id"]][partition] = past_offset(row)
        return found

    def exported(self, as_of_time: AsOfTime | None) -> pa.Table:
        """Offsets as rows of EXPORTED, as of the last compaction or of a time. Without group ids those of all groups."""
        of_groups = self._are(self.group_ids)
        if as_of_time is not None:
            as_of_time = as_of_time._replace(of_groups=of_groups)
        columns = ", ".join(f"`{name}`" for name in EXPORTED.names)
        sql = (
            f"SELECT {columns} FROM offsets WHERE {of_groups} AND {_are_of(self.topics)} AND committed_offset >= 0 "  # noqa: S608 - quoted
            "ORDER BY group_id, topic, `partition`"
        )
        return without_views(query(self.root, sql, as_of_time)).cast(EXPORTED)

    def newest_resets(self) -> dict[str, Reset]:
        """Newest reset or rewind of each group by `audit`, without restores of it; groups without any are left out."""
        sql = (
            "SELECT group_id, topic, `partition`, `before`, `after`, change, at, principal FROM audit "  # noqa: S608 - quoted
            f"WHERE {self._are(self.group_ids)} AND change IN ('reset', 'rewind') ORDER BY group_id, at"
        )
        found = groupby(rows(self.root, sql), key=itemgetter("group_id"))
        resets = {
            group_id: newest_reset(list(of_group), self.topics) for group_id, of_group in found
        }
        return {group_id: reset for group_id, reset in resets.items() if reset is not None}

    def _are(self, group_ids: Collection[str]) -> str:
        of_cluster = f"cluster_id = {in_datafusion(self.cluster_id)}"
        return f"{of_cluster} AND {is_one_of('group_id', group_ids)}" if group_ids else of_cluster


def _are_of(topics: Topics) -> str:
    """Condition in DataFusion's SQL for the chosen partitions."""
    choices = [
        f"topic = {in_datafusion(topic)}"
        + ("" if numbers is None else f" AND `partition` IN ({', '.join(map(str, numbers))})")
        for topic, numbers in topics.items()
    ]
    return " OR ".join(choices).join("()") if choices else "true"


def is_chosen(partition: TopicPartition, topics: Topics) -> bool:
    """Return True for a partition of the topics, and for each partition if there are no topics."""
    numbers = topics.get(partition.topic, ()) if topics else None
    return numbers is None or partition.partition in numbers


def past_offset(row: Mapping[str, Any]) -> PastOffset:
    """Offset of a row of `offsets` or EXPORTED."""
    epoch = NO_EPOCH if row["leader_epoch"] is None else row["leader_epoch"]
    committed = OffsetAndMetadata(row["committed_offset"], row["metadata"] or "", epoch)
    return PastOffset(committed, row["topic_id"])


def newest_reset(changes: Iterable[Mapping[str, Any]], topics: Topics) -> Reset | None:
    """Newest reset of the chosen partitions in a group's rows of `audit`, which are in the order of `at`.

    A restore is a reset too. It changes partitions of the reset before it, and sets one of them back exactly. It does not count:
    otherwise a repeated restore would undo the first.
    """
    newest: Reset | None = None
    partitions: set[TopicPartition] = set()
    before: dict[TopicPartition, int] = {}
    for at, of_time in groupby(changes, key=itemgetter("at")):
        changed = {TopicPartition(row["topic"], row["partition"]): row for row in of_time}
        changed = {one: row for one, row in changed.items() if is_chosen(one, topics)}
        set_back = {
            one for one in changed if one in before and before[one] == changed[one]["after"]
        }
        if set_back and changed.keys() <= partitions:
            before = {one: offset for one, offset in before.items() if one not in set_back}
        elif changed:
            some = next(iter(changed.values()))
            newest = Reset(at, some["change"], some["principal"], len(changed))
            partitions = set(changed)
            before = {
                one: row["before"] for one, row in changed.items() if row["before"] is not None
            }
    return newest
