"""Restore of committed offsets: the offsets of an earlier time by the tables, back into their groups or into those of another cluster.

Three steps: `PastTables` reads offsets of then, `planned` compares them with present offsets and logs, `executed` commits. Groups are
Kafka's own (`KafkaGroups`), or groups of the job (`JobGroups`). A step that is repeated has the same result.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple, TypeAlias

from kafka import KafkaAdminClient, OffsetAndMetadata, TopicPartition
from kafka.errors import NoError

from group_coordinator.clients.admin.client import AdminClient
from group_coordinator.clients.as_of_time import AsOfTime
from group_coordinator.clients.cluster.cluster import Cluster, offsets_by_timestamp
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.errors import (
    ClientError,
    GroupIdNotFoundError,
    NotRestorableError,
    error_for,
)
from group_coordinator.clients.reset_plan import Facts, Numbers, ToOffsets, plan_reset
from group_coordinator.clients.sql_tables import query, rows
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.tables.quoting import in_datafusion

Offsets: TypeAlias = Mapping[TopicPartition, OffsetAndMetadata]
Topics: TypeAlias = Mapping[str, Collection[int] | None]
"""Chosen partitions by topic, None: all of the topic. Without topics all partitions are chosen."""
_NO_EPOCH = -1
_EMPTY, _DEAD = "Empty", "Dead"
_BEFORE = "before the log's start: the first record that is left"
_BEYOND = "beyond the log's end: the end"
_OF_MIRROR = "mirror"
"""Last folder of a mirror's checkpoint: the name of its query."""


class Owner(NamedTuple):
    """The owner of a cluster's rows: a mirror of Kafka's own groups, or the job that coordinates the groups of `events_topic`."""

    is_mirror: bool
    events_topic: str


class PastOffset(NamedTuple):
    """Committed offset of an earlier time."""

    committed: OffsetAndMetadata
    topic_id: str | None
    """None: the commit had none."""


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


@dataclass(frozen=True, slots=True)
class PastTables:
    """Offsets and resets of some groups of a cluster. All methods raise TablesUnavailableError and QueryError."""

    root: str
    cluster_id: str
    group_ids: Sequence[str]
    topics: Topics

    def owner(self) -> Owner:
        """Return the owner by the newest claim. Raises NotRestorableError: there is none."""
        claims = rows(
            self.root,
            f"SELECT checkpoint, events_topic FROM writers WHERE cluster_id = {in_datafusion(self.cluster_id)} "  # noqa: S608 - quoted
            "ORDER BY epoch DESC LIMIT 1",
        )
        if not claims:
            raise NotRestorableError(
                f"tables.root = {self.root} has no rows of cluster.id = {self.cluster_id}: set --cluster to the name of "
                "a mirror or of a job"
            )
        folder = claims[0]["checkpoint"].rstrip("/").rpartition("/")[2]
        return Owner(folder == _OF_MIRROR, claims[0]["events_topic"])

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
                    found[row["group_id"]][partition] = _past(row)
        return found

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
        names = ", ".join(map(in_datafusion, group_ids))
        return f"cluster_id = {in_datafusion(self.cluster_id)} AND group_id IN ({names})"


def is_chosen(partition: TopicPartition, topics: Topics) -> bool:
    """Return True for a partition of the topics, and for each partition if there are no topics."""
    numbers = topics.get(partition.topic, ()) if topics else None
    return numbers is None or partition.partition in numbers


def _past(row: Mapping[str, Any]) -> PastOffset:
    epoch = _NO_EPOCH if row["leader_epoch"] is None else row["leader_epoch"]
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


class KafkaGroups:
    """Groups that the brokers coordinate. All methods raise ChannelErrors."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def states(self, group_ids: Sequence[str]) -> dict[str, str]:
        """State of each group by Kafka's name; Dead: it does not exist."""
        # DescribeGroups knows only classic groups.
        with self._connection.opened(KafkaAdminClient) as admin:
            states = {group["group_id"]: group["group_state"] for group in admin.list_groups()}
        return {group_id: states.get(group_id, _DEAD) for group_id in group_ids}

    def committed(self, group_ids: Sequence[str]) -> dict[str, Offsets]:
        """Present offsets of each group, without those below 0."""
        with self._connection.opened(KafkaAdminClient) as admin:
            found = admin.list_group_offsets(list(group_ids))
        return {
            group_id: {
                one: committed for one, committed in offsets.items() if committed.offset >= 0
            }
            for group_id, offsets in found.items()
        }

    def commit(self, group_id: str, offsets: Offsets) -> dict[TopicPartition, str]:
        """Commit offsets of a group without members; return the error of each partition that has one."""
        with self._connection.opened(KafkaAdminClient) as admin:
            results = admin.alter_group_offsets(group_id, offsets)
        return {
            partition: str(error_for(error.errno))
            for partition, error in results.items()
            if error is not NoError
        }


class JobGroups:
    """Groups that the job coordinates. Its log has a restore as a reset, with the principal of this user. All methods raise ClientErrors."""

    def __init__(self, admin: AdminClient) -> None:
        self._admin = admin

    def states(self, group_ids: Sequence[str]) -> dict[str, str]:
        """State of each group by Kafka's name; Dead: it does not exist."""
        described = self._admin.describe_consumer_groups(group_ids)
        for group in described.values():
            if group.error is not None and not isinstance(group.error, GroupIdNotFoundError):
                raise group.error
        return {group_id: described[group_id].state for group_id in group_ids}

    def committed(self, group_ids: Sequence[str]) -> dict[str, Offsets]:
        """Present offsets of each group, without those below 0."""
        found = self._admin.list_offsets_of_groups(group_ids)
        return {
            group_id: {one: offset for one, offset in offsets.items() if offset is not None}
            for group_id, offsets in found.items()
        }

    def commit(self, group_id: str, offsets: Offsets) -> dict[TopicPartition, str]:
        """Commit offsets of a group without members; return the error of each partition that has one."""
        errors = self._admin.commit_restore(group_id, offsets).errors
        return {one: str(error) for one, error in errors.items() if error is not None}


GroupOffsets: TypeAlias = KafkaGroups | JobGroups


def check_inactive(groups: GroupOffsets, group_ids: Sequence[str]) -> None:
    """Raise NotRestorableError if a group has members, or may have."""
    states = groups.states(group_ids)
    active = [
        f"{group} is {state}" for group, state in states.items() if state not in {_EMPTY, _DEAD}
    ]
    if active:
        raise NotRestorableError(
            f"{', '.join(active)}: members would commit over restored offsets, so nothing is restored: end the "
            "members, and repeat the command when the group is Empty"
        )


class Logs(NamedTuple):
    """Logs of partitions in the cluster that is written."""

    starts: Numbers
    ends: Numbers
    existing: Collection[TopicPartition]
    topic_ids: Mapping[str, str | None]
    """None: the topic does not exist. Topics that this user may not see are left out."""


def logs_of(cluster: Cluster, partitions: Collection[TopicPartition]) -> Logs:
    """Ask the brokers for the logs. Raises ChannelError."""
    topics = {partition.topic for partition in partitions}
    existing = cluster.partition_leaders(topics).keys()
    known = [partition for partition in partitions if partition in existing]
    starts, ends = cluster.start_offsets(known), cluster.end_offsets(known)
    return Logs(starts, ends, existing, cluster.topics_seen(topics))


@dataclass(frozen=True, slots=True)
class RestoredOffset:
    """A row of the plan; `target` None: the offset stays as it is."""

    group_id: str
    partition: TopicPartition
    now: int | None
    then: int | None
    target: OffsetAndMetadata | None = None
    note: str = ""
    is_written: bool = False
    is_failed: bool = False

    @property
    def new_offset(self) -> int | None:
        """Offset after the restore."""
        return self.now if self.target is None else self.target.offset


class GroupPlan(NamedTuple):
    """Offsets of a group: now, then, and the wanted offsets, which differ from those of then in another cluster."""

    group_id: str
    now: Offsets
    then: Mapping[TopicPartition, PastOffset]
    wanted: Offsets


def with_same_offsets(then: Mapping[TopicPartition, PastOffset]) -> Offsets:
    """Offsets for another cluster. Leader epochs of this cluster mean nothing there."""
    return {one: past.committed._replace(leader_epoch=_NO_EPOCH) for one, past in then.items()}


def with_mapped_offsets(
    source: Connection, target: Cluster, then: Mapping[TopicPartition, PastOffset]
) -> Offsets:
    """Offsets for another cluster, by the timestamps of records. Raises ChannelError."""
    same = with_same_offsets(then)
    asked = {one: committed.offset for one, committed in same.items()}
    mapped = offsets_by_timestamp(source, target, asked)
    return {one: same[one]._replace(offset=offset) for one, offset in mapped.items()}


def planned(group: GroupPlan, logs: Logs) -> list[RestoredOffset]:
    """New offsets within the logs, in the order of topics and partitions."""
    stays = {one: _why_it_stays(one, group, logs) for one in {*group.then, *group.now}}
    inside = logs.starts.keys() & logs.ends.keys() & {one for one, why in stays.items() if not why}
    scenario = ToOffsets({one: group.wanted[one].offset for one in inside})
    plan = plan_reset(scenario, inside, Facts(starts=logs.starts, ends=logs.ends))
    found = []
    for one in sorted(stays):
        now, then = group.now.get(one), group.then.get(one)
        row = RestoredOffset(
            group.group_id, one, now and now.offset, then and then.committed.offset
        )
        if one in inside:
            row = _compared(_with_target(row, group.wanted[one], plan.offsets[one]), now)
        elif stays[one]:
            row = replace(row, note=stays[one])
        else:
            hidden = one.topic not in logs.topic_ids
            error = (
                "the topic is hidden from this user" if hidden else "the partition has no leader"
            )
            row = replace(row, note=error, is_failed=True)
        found.append(row)
    return found


def _why_it_stays(one: TopicPartition, group: GroupPlan, logs: Logs) -> str:
    """Reason for which an offset is not restored; empty: it is."""
    past, topic_id = group.then.get(one), logs.topic_ids.get(one.topic)
    if past is None:
        return "had no offset then: stays as it is"
    if one.topic not in logs.topic_ids:
        return ""
    reasons = {
        "the topic does not exist": topic_id is None,
        "the partition does not exist": one not in logs.existing,
        # Offsets of a deleted topic mean nothing in another topic of its name.
        "the topic was created again since then": past.topic_id not in {None, topic_id},
        "the source has no record with a timestamp": one not in group.wanted,
    }
    reason = next((reason for reason, applies in reasons.items() if applies), None)
    return "" if reason is None else f"{reason}: stays as it is"


def _with_target(row: RestoredOffset, wanted: OffsetAndMetadata, offset: int) -> RestoredOffset:
    if offset == wanted.offset:
        return replace(row, target=wanted)
    # Metadata and epoch belong to the record at the wanted offset.
    note = _BEFORE if wanted.offset < offset else _BEYOND
    return replace(row, target=OffsetAndMetadata(offset, "", _NO_EPOCH), note=note)


def _compared(row: RestoredOffset, now: OffsetAndMetadata | None) -> RestoredOffset:
    is_moved = bool(row.note)
    if now is None or row.target is None or now.offset != row.target.offset:
        return row
    if not is_moved and _plain(now) != _plain(row.target):
        return replace(row, note="only metadata or leader epoch differ")
    return replace(row, target=None, note=f"{row.note}; unchanged" if is_moved else "unchanged")


def _plain(committed: OffsetAndMetadata) -> tuple[str, int]:
    epoch = _NO_EPOCH if committed.leader_epoch is None else committed.leader_epoch
    return committed.metadata or "", epoch


def executed(groups: GroupOffsets, plan: Iterable[RestoredOffset]) -> list[RestoredOffset]:
    """Commit the targets, group by group; an error of a group or of a partition is in its rows, and the others are committed."""
    done = []
    for group_id, rows_of_group in groupby(plan, key=attrgetter("group_id")):
        of_group = list(rows_of_group)
        targets = {row.partition: row.target for row in of_group if row.target is not None}
        try:
            errors = groups.commit(group_id, targets) if targets else {}
        except ClientError as error:
            errors = dict.fromkeys(targets, f"perhaps not written: {error}")
        done += [_done(row, errors.get(row.partition)) for row in of_group]
    return done


def _done(row: RestoredOffset, error: str | None) -> RestoredOffset:
    if row.target is None:
        return row
    if error is not None:
        return replace(row, note=error, is_failed=True)
    return replace(row, is_written=True)
