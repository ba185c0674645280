"""Restore of committed offsets: those of an earlier time back into their groups, or into those of another cluster.

Three steps: `PastTables` or a file has the offsets of then, `planned` compares them with present offsets and logs, `executed` commits. Groups are
Kafka's own (`KafkaGroups`), or groups of the job (`JobGroups`). A step that is repeated has the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple, TypeAlias, TypeVar

from kafka import KafkaAdminClient, OffsetAndMetadata, TopicPartition
from kafka.errors import (
    CoordinatorLoadInProgressError,
    CoordinatorNotAvailableError,
    NoError,
    NotCoordinatorError,
)
from msgspec import json
from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_fixed

from group_coordinator.clients.admin.client import AdminClient
from group_coordinator.clients.cluster.cluster import Cluster, offsets_by_timestamp
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.errors import (
    ClientError,
    GroupIdNotFoundError,
    NotRestorableError,
    error_for,
)
from group_coordinator.clients.past_offsets import NO_EPOCH, PastOffset, PastOffsets
from group_coordinator.clients.reset_plan import Facts, Numbers, ToOffsets, plan_reset

Offsets: TypeAlias = Mapping[TopicPartition, OffsetAndMetadata]
_EMPTY, _DEAD = "Empty", "Dead"
_MOST_NAMED = 10
"""Most active groups in an error."""
_BEFORE = "before the log's start: the first record that is left"
_BEYOND = "beyond the log's end: the end"
_NOT_YET = (CoordinatorLoadInProgressError, CoordinatorNotAvailableError, NotCoordinatorError)
_RETRIES_S, _PAUSE_S = 30.0, 0.2
_COMMIT_BYTES, _OFFSET_BYTES = 700_000, 100
"""Most bytes of a commit, which a broker appends as a batch of at most a megabyte by default; and those of an offset, without its texts."""
Response = TypeVar("Response")


class KafkaGroups:
    """Groups that the brokers coordinate. All methods raise ChannelErrors."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        # A login for each of thousands of groups would take long.
        self._admin = connection.open(KafkaAdminClient)

    def close(self) -> None:
        """Close the client."""
        self._admin.close()

    def states(self, group_ids: Sequence[str]) -> dict[str, str]:
        """State of each group by Kafka's name; Dead: it does not exist. Raises NotRestorableError: a share group."""
        # DescribeGroups knows only classic groups.
        listed = {each["group_id"]: each for each in self._when_ready(self._admin.list_groups)}
        for group_id in group_ids:
            if group_id in listed and listed[group_id].get("group_type") == "share":
                raise NotRestorableError(
                    f"{group_id!r} is a share group, which has no committed offsets: kafka-share-groups.sh resets its start offsets"
                )
        states = {group_id: group["group_state"] for group_id, group in listed.items()}
        return {group_id: states.get(group_id, _DEAD) for group_id in group_ids}

    def committed(self, group_ids: Sequence[str]) -> dict[str, Offsets]:
        """Present offsets of each group, without those below 0."""
        found = self._when_ready(lambda: self._admin.list_group_offsets(list(group_ids)))
        return {
            group_id: {
                one: committed for one, committed in offsets.items() if committed.offset >= 0
            }
            for group_id, offsets in found.items()
        }

    def commit(self, group_id: str, offsets: Offsets) -> dict[TopicPartition, str]:
        """Commit offsets of a group without members; return the error of each partition that has one."""
        with self._connection.awaited():
            results = self._admin.alter_group_offsets(group_id, offsets)
        return {
            partition: str(error_for(error.errno))
            for partition, error in results.items()
            if error is not NoError
        }

    def _when_ready(self, ask: Callable[[], Response]) -> Response:
        # A cluster without groups, such as a new standby, creates __consumer_offsets at its first request.
        until, again = stop_after_delay(_RETRIES_S), retry_if_exception_type(_NOT_YET)
        with self._connection.awaited():
            return Retrying(stop=until, wait=wait_fixed(_PAUSE_S), retry=again, reraise=True)(ask)


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


def check_inactive(
    groups: GroupOffsets, group_ids: Sequence[str], text_of: Callable[[str], str]
) -> None:
    """Raise NotRestorableError if a group has members, or may have; it names groups by `text_of`."""
    states = groups.states(group_ids)
    active = [
        f"{text_of(group)} is {state}"
        for group, state in states.items()
        if state not in {_EMPTY, _DEAD}
    ]
    if active:
        more = f" and {len(active) - _MOST_NAMED} more groups" if len(active) > _MOST_NAMED else ""
        raise NotRestorableError(
            f"{', '.join(active[:_MOST_NAMED])}{more}: members would commit over restored offsets, so nothing is restored: end the "
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
    then: PastOffsets
    wanted: Offsets
    lack: str = "had no offset then"
    """Note of an offset that is missing in `then`."""


def for_another_cluster(then: PastOffsets) -> dict[TopicPartition, PastOffset]:
    """Offsets without leader epochs and topic ids, which mean nothing in another cluster."""
    return {
        one: PastOffset(past.committed._replace(leader_epoch=NO_EPOCH), None)
        for one, past in then.items()
    }


def with_mapped_offsets(source: Connection, target: Cluster, then: PastOffsets) -> Offsets:
    """Offsets for another cluster, by the timestamps of records. Raises ChannelError."""
    asked = {one: past.committed.offset for one, past in then.items()}
    mapped = offsets_by_timestamp(source, target, asked)
    return {one: then[one].committed._replace(offset=offset) for one, offset in mapped.items()}


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
        return f"{group.lack}: stays as it is"
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
    return replace(row, target=OffsetAndMetadata(offset, "", NO_EPOCH), note=note)


def _compared(row: RestoredOffset, now: OffsetAndMetadata | None) -> RestoredOffset:
    is_moved = bool(row.note)
    if now is None or row.target is None or now.offset != row.target.offset:
        return row
    # A file without metadata says nothing about it.
    is_known = row.target.metadata is not None
    if not is_moved and is_known and _plain(now) != _plain(row.target):
        return replace(row, note="only metadata or leader epoch differ")
    return replace(row, target=None, note=f"{row.note}; unchanged" if is_moved else "unchanged")


def _plain(committed: OffsetAndMetadata) -> tuple[str, int]:
    epoch = NO_EPOCH if committed.leader_epoch is None else committed.leader_epoch
    return committed.metadata or "", epoch


def executed(groups: GroupOffsets, plan: Iterable[RestoredOffset]) -> list[RestoredOffset]:
    """Commit the targets, group by group; an error of a group or of a partition is in its rows, and the others are committed."""
    done = []
    for group_id, rows_of_group in groupby(plan, key=attrgetter("group_id")):
        of_group = list(rows_of_group)
        targets = {row.partition: row.target for row in of_group if row.target is not None}
        errors: dict[TopicPartition, str] = {}
        for part in _commits(group_id, targets):
            try:
                errors |= groups.commit(group_id, part)
            except ClientError as error:
                errors |= dict.fromkeys(part, f"perhaps not written: {error}")
        done += [_done(row, errors.get(row.partition)) for row in of_group]
    return done


def _commits(group_id: str, offsets: Offsets) -> Iterator[Offsets]:
    """Divide the offsets of a group among commits that brokers accept."""
    part: dict[TopicPartition, OffsetAndMetadata] = {}
    left = _COMMIT_BYTES
    for one, committed in offsets.items():
        # In JSON, as in an event, a text is longest.
        texts = json.encode((group_id, one.topic, committed.metadata))
        size = _OFFSET_BYTES + len(texts)
        if part and size > left:
            yield part
            part, left = {}, _COMMIT_BYTES
        part[one] = committed
        left -= size
    if part:
        yield part


def _done(row: RestoredOffset, error: str | None) -> RestoredOffset:
    if row.target is None:
        return row
    if error is not None:
        return replace(row, note=error, is_failed=True)
    return replace(row, is_written=True)
