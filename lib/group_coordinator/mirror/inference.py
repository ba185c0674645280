"""Inferred reasons of a live cluster's tombstones, from the rows of the tombstone's group: Kafka does not write them.

The records that an operation of the coordinator appends have the same timestamp (CoordinatorRuntime.append in Kafka 4.4), and a
group's records are adjacent in it. So all rows of a group with the same timestamp count as an append, which has one reason.
jobs/reference/mirror.md has the rules as a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from group_coordinator.core.model.records import Reason
from group_coordinator.core.model.topic_offsets import CommittedOffset
from group_coordinator.mirror.group_so_far import KINDS, OFFSETS, GroupSoFar, LoggedRow
from group_coordinator.tables.compaction.foreign_groups import SHARE


class ClusterFacts(NamedTuple):
    """Facts of the cluster in addition to its log: the ids of its present topics by name (empty: unknown), and `unseen` topics.

    ACLs hide unseen topics from the mirror's user, so that their existence is unknown.
    """

    retention_ms: int
    topics: Mapping[str, str]
    unseen: frozenset[str] = frozenset()


class InferredReason(NamedTuple):
    source_partition: int
    source_offset: int
    reason: str


class _LostOffset(NamedTuple):
    """A tombstone of an offset, with the facts before it; `offset` None: no row has the removed offset."""

    row: LoggedRow
    topic: str
    offset: CommittedOffset | None
    was_due: bool
    was_in_use: bool


class _Append(NamedTuple):
    """Removals of an append; `ended`: the group itself is removed, and has not become a group of another type."""

    lost: Sequence[_LostOffset]
    ends: Sequence[LoggedRow]
    ended: bool

    @property
    def is_sweep(self) -> bool:
        """True if all removed offsets were due. Offsets without a row were pending in a transaction, which a sweep keeps."""
        return all(lost.was_due for lost in self.lost)


def infer_reasons(
    group: GroupSoFar, rows: Iterable[LoggedRow], batch_id: int, cluster: ClusterFacts
) -> Iterator[InferredReason]:
    """Yield the reasons of a batch's tombstones, as far as they can be inferred.

    The rows are of the log, possibly older than the tables, up to the end of the batch, in any order; the group is as the tables
    have it, and is updated.
    """
    in_order = sorted(rows, key=attrgetter("batch_id", "seq", "source_partition"))
    for _, of_append in groupby(in_order, key=attrgetter("event_time")):
        appended = list(of_append)
        # Only appends with tombstones need a reason.
        if any(row.value is None for row in appended):
            append = _applied(group, appended, batch_id, cluster)
            yield from _reasons(append, group, batch_id, cluster)
        else:
            for row in appended:
                group.apply(row)


def _applied(
    group: GroupSoFar, rows: Sequence[LoggedRow], batch_id: int, cluster: ClusterFacts
) -> _Append:
    lost, ends = [], []
    # The tombstones of members and offsets come before the group's, so the state before them counts.
    had_members, was_known = group.has_members, group.is_known
    for row in rows:
        if row.is_lost_offset:
            lost.append(_lost_offset(group, row, batch_id, cluster))
        elif row.is_end_of_group:
            ends.append(row)
        group.apply(row)
        if row.value is not None:
            had_members, was_known = group.has_members, True
    if _is_polled(rows):
        # Members may leave, and then their group may end, between two polls.
        had_members = group.has_members
    stays = had_members or group.has_offsets or _has_value_of_another_kind(rows, ends)
    return _Append(lost, ends, bool(ends) and was_known and not stays)


def _is_polled(rows: Iterable[LoggedRow]) -> bool:
    return any(row.reason == Reason.OBSERVED for row in rows)


def _lost_offset(
    group: GroupSoFar, row: LoggedRow, batch_id: int, cluster: ClusterFacts
) -> _LostOffset:
    topic, partition = str(row.topic), int(row.partition or 0)
    offset = group.offset(topic, partition)
    if row.batch_id < batch_id:
        # The tables may be past it. The reason inferred then shows the state of that time.
        was_due = row.reason == Reason.OFFSET_EXPIRED
    else:
        was_due = _is_due(group, topic, offset, row.event_time, cluster.retention_ms)
    return _LostOffset(row, topic, offset, was_due, group.refuses_offset_delete(topic))


def _is_due(
    group: GroupSoFar, topic: str, offset: CommittedOffset | None, at_ms: int, retention_ms: int
) -> bool:
    due_ms = None if offset is None else group.rule.due_ms(topic, offset, retention_ms)
    return due_ms is not None and due_ms <= at_ms


def _has_value_of_another_kind(rows: Sequence[LoggedRow], ends: Sequence[LoggedRow]) -> bool:
    ended = {KINDS[row.record_type] for row in ends}
    written = {
        KINDS[row.record_type]
        for row in rows
        if row.value is not None and row.record_type not in OFFSETS
    }
    # A tombstone followed by a record of another type is a conversion, not an end.
    return bool(ended) and not written <= ended


def _reasons(
    append: _Append, group: GroupSoFar, batch_id: int, cluster: ClusterFacts
) -> Iterator[InferredReason]:
    known = [lost for lost in append.lost if lost.offset is not None]
    with_topics = append.ended and _went_with_topics(append, known, cluster)
    for row in append.ends:
        if append.ended and row.batch_id == batch_id:
            yield _inferred(
                row, Reason.GROUP_EXPIRED if with_topics else _end_of_group(append, row)
            )
    reason = _end_of_offsets(append, known, group, cluster) if known else None
    if with_topics:
        reason = Reason.TOPIC_DELETED
    if reason is not None:
        yield from (_inferred(lost.row, reason) for lost in known if lost.row.batch_id == batch_id)


def _inferred(row: LoggedRow, reason: Reason) -> InferredReason:
    return InferredReason(row.source_partition, row.source_offset, reason)


def _went_with_topics(append: _Append, known: Sequence[_LostOffset], cluster: ClusterFacts) -> bool:
    # Between two polls Kafka may remove a topic's offsets, and then the group that has none left.
    is_polled = _is_polled(lost.row for lost in known)
    return is_polled and not append.is_sweep and bool(_topics_are_gone(known, cluster))


def _end_of_group(append: _Append, row: LoggedRow) -> Reason:
    # A sweep removes an empty group without offsets; share groups stay.
    expires = append.is_sweep and KINDS[row.record_type] != SHARE
    return Reason.GROUP_EXPIRED if expires else Reason.GROUP_DELETED


def _end_of_offsets(
    append: _Append, known: Sequence[_LostOffset], group: GroupSoFar, cluster: ClusterFacts
) -> Reason | None:
    if append.is_sweep:
        return Reason.OFFSET_EXPIRED
    if append.ended:
        return Reason.GROUP_DELETED
    return _deletion(known, group, cluster)


def _deletion(
    known: Sequence[_LostOffset], group: GroupSoFar, cluster: ClusterFacts
) -> Reason | None:
    # Kafka refuses OffsetDelete for subscribed topics, so only a deletion of the topic remains, unless members left before a poll.
    stayed = not _is_polled(lost.row for lost in known)
    if any(
        lost.was_in_use and (stayed or group.refuses_offset_delete(lost.topic)) for lost in known
    ):
        return Reason.TOPIC_DELETED
    # A deletion of the topic would have removed all its offsets.
    if any(_part_stays(group, lost.topic, known) for lost in known):
        return Reason.OFFSET_DELETED
    gone = _topics_are_gone(known, cluster)
    # Without the topics both reasons remain possible.
    if gone is None:
        return None
    return Reason.TOPIC_DELETED if gone else Reason.OFFSET_DELETED


def _topics_are_gone(known: Sequence[_LostOffset], cluster: ClusterFacts) -> bool | None:
    if not cluster.topics or any(lost.topic in cluster.unseen for lost in known):
        return None
    return all(_is_gone(lost, cluster.topics) for lost in known)


def _part_stays(group: GroupSoFar, topic: str, known: Sequence[_LostOffset]) -> bool:
    # A deletion of the topic would also remove offsets without an id.
    ids = {lost.offset.topic_id for lost in known if lost.offset and lost.topic == topic}
    return any(
        offset.topic_id is None or offset.topic_id in ids for offset in group.offsets_of(topic)
    )


def _is_gone(lost: _LostOffset, topics: Mapping[str, str]) -> bool:
    # Another topic may exist under the name by now.
    topic_id = None if lost.offset is None else lost.offset.topic_id
    present = topics.get(lost.topic)
    return present is None or (topic_id is not None and present != topic_id)
