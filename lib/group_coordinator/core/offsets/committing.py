"""The common steps of OffsetCommit and TxnOffsetCommit: existing partitions, limits, and the stored offsets.

Results are merged by partition as KafkaApis does: missing partitions first, then the coordinator's results. A commit with an
earlier member epoch is valid for partitions that the member owned at that epoch (KIP-1251).

Source: ConsumerGroup.createAssignmentEpochValidator in Kafka 4.4.
Stories: stories/offsets/commits.py, stories/offsets/transactions.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from group_coordinator.core.acls import TO_CHANGE_OFFSETS, ResourceType, Rights
from group_coordinator.core.kafka_order import utf16_length
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.consumer_member import ConsumerMember
from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import OffsetRecord, Reason
from group_coordinator.core.model.requests import PartitionCommit, Topic, TopicCommit
from group_coordinator.core.model.responses import PartitionResult, TopicResult
from group_coordinator.core.model.topic_offsets import CommittedOffset
from group_coordinator.core.value import Value


def same_result(
    name: str | None, topic_id: str | None, partitions: Iterable[int], error: ErrorCode
) -> TopicResult:
    """Return the same error for all partitions of a topic."""
    return TopicResult(name, topic_id, tuple(PartitionResult(p, error) for p in partitions))


def merge(
    missing: Sequence[TopicResult], results: Sequence[TopicResult]
) -> tuple[TopicResult, ...]:
    """Merge the results. A topic in both halves has one entry, in the place of the first half's."""
    if not missing:
        return tuple(results)
    merged: dict[tuple[str | None, str | None], TopicResult] = {}
    for result in (*missing, *results):
        key = (result.name, result.topic_id)
        earlier = merged.get(key)
        partitions = (earlier.partitions if earlier else ()) + result.partitions
        merged[key] = TopicResult(result.name, result.topic_id, partitions)
    return tuple(merged.values())


class EarlierEpoch(Value, frozen=True):
    """The committing member, and the epoch of the commit."""

    member: ConsumerMember
    epoch: int
    error: ErrorCode
    """The error if the member did not own a partition at that epoch."""


def check_partitions(
    earlier: EarlierEpoch, records: Iterable[OffsetRecord], topics: Mapping[str, Topic] | None
) -> None:
    """Check each partition of a commit. A single partition that the member did not own makes the whole commit fail.

    Raises CoordinatorError: STALE_MEMBER_EPOCH, or ILLEGAL_GENERATION.
    """
    for record in records:
        if not _had(earlier, record, topics or {}):
            raise CoordinatorError(earlier.error)


def _had(earlier: EarlierEpoch, record: OffsetRecord, topics: Mapping[str, Topic]) -> bool:
    topic = topics.get(record.topic)
    # The assignment has topic ids: an unknown topic cannot be found in it.
    if topic is None:
        return False
    current = earlier.member.current
    for held in (current.assigned, current.pending_revocation):
        since = held.get(topic.topic_id, {}).get(record.partition)
        if since is not None:
            return earlier.epoch >= since
    return False


_NONE = ErrorCode.NONE


def names_epoch(generation: int | None) -> bool:
    """Return True if a commit names a generation or a member epoch: neither None (-1 on the wire) nor another number below 0."""
    return generation is not None and generation >= 0


def check_no_group(generation: int | None, version: int, member_epochs_since: int) -> None:
    """Check a commit to a group that does not exist: it must not name a generation or a member epoch.

    Raises CoordinatorError: GROUP_ID_NOT_FOUND; ILLEGAL_GENERATION in versions before member epochs.
    """
    if names_epoch(generation):
        is_old = version < member_epochs_since
        raise CoordinatorError(
            ErrorCode.ILLEGAL_GENERATION if is_old else ErrorCode.GROUP_ID_NOT_FOUND
        )


def topic_error(topic: TopicCommit, error: ErrorCode) -> TopicResult:
    """Return the same error for every partition of a topic."""
    partitions = (entry.partition for entry in topic.partitions)
    return same_result(topic.name, topic.topic_id, partitions, error)


def existing_by_name(
    group: Group, topics: Sequence[TopicCommit], rights: Rights | None
) -> tuple[list[TopicCommit], list[TopicResult]]:
    """Return the topics with their existing partitions and their ids, and the results of all others."""
    known = group.topics
    # Without topic metadata and ACLs all topics count as existing: no look at each partition.
    if known is None and rights is None:
        return [topic for topic in topics if topic.partitions], []
    return _existing(group, (_with_id(topic, known or {}) for topic in topics), rights)


def existing_by_id(
    group: Group, topics: Sequence[TopicCommit], rights: Rights | None
) -> tuple[list[TopicCommit], list[TopicResult]]:
    """Return the topics with their existing partitions and their names, and the results of all others."""
    known = group.topics_by_id()
    return _existing(group, (_with_name(topic, known) for topic in topics), rights)


def _with_id(topic: TopicCommit, known: Mapping[str, Topic]) -> TopicCommit:
    found = known.get(topic.name or "")
    return topic.replace(topic_id=found.topic_id if found else None)


def _with_name(topic: TopicCommit, known: Mapping[str, Topic]) -> TopicCommit:
    found = known.get(topic.topic_id or "")
    return topic.replace(name=found.name if found else None)


def _existing(
    group: Group, topics: Iterable[TopicCommit], rights: Rights | None
) -> tuple[list[TopicCommit], list[TopicResult]]:
    present, missing = [], []
    for topic in topics:
        name = topic.name
        if name is None:
            missing.append(topic_error(topic, ErrorCode.UNKNOWN_TOPIC_ID))
            continue
        if rights is not None and not rights.has(TO_CHANGE_OFFSETS, ResourceType.TOPIC, name):
            missing.append(topic_error(topic, ErrorCode.TOPIC_AUTHORIZATION_FAILED))
            continue
        known = [p for p in topic.partitions if group.partition_exists(name, p.partition)]
        absent = [p for p in topic.partitions if not group.partition_exists(name, p.partition)]
        # KafkaApis reports a topic as unknown even if the request has none of its partitions.
        if absent or not group.partition_exists(name, 0):
            unknown = topic.replace(partitions=tuple(absent))
            missing.append(topic_error(unknown, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
        if known:
            present.append(topic.replace(partitions=tuple(known)))
    return present, missing


class CommitTerms(Value, frozen=True):
    """The values that all offsets of a commit share."""

    now_ms: int
    expire_timestamp_ms: int | None = None
    producer_id: int | None = None
    markers_end_offset: int | None = None
    producer_epoch: int | None = None
    reason: Reason = Reason.OFFSET_COMMIT


def commit_existing(
    group: Group,
    topics: Sequence[TopicCommit],
    terms: CommitTerms,
    config: CoordinatorConfig,
    may_commit: Callable[[], EarlierEpoch | None],
) -> tuple[list[OffsetRecord] | None, list[TopicResult]]:
    """Return the records of a commit to existing partitions, None if it fails, and the results of these partitions.

    If `may_commit` raises, its error is the result of each partition.
    """
    if not topics:
        return None, []
    try:
        earlier = may_commit()
        records, results = _commit(topics, terms, CommitLimits(group, config))
        if earlier is not None:
            check_partitions(earlier, records, group.topics)
    # KafkaApis turns an error of the coordinator into one for each partition.
    except CoordinatorError as error:
        return None, [topic_error(topic, error.code) for topic in topics]
    return records, results


class CommitLimits:
    """The limits of a commit: the length of a metadata text, and the number of new partitions of the group."""

    __slots__ = ("_added", "_config", "_group", "_room")

    def __init__(self, group: Group, config: CoordinatorConfig) -> None:
        self._group = group
        self._config = config
        self._added: set[tuple[str, int]] = set()
        self._room: int | None = None
        """The remaining number of new partitions. It is computed at the first new partition, as most commits have none."""

    def error_of(self, topic: str, entry: PartitionCommit) -> ErrorCode:
        """Return NONE, or the error of an exceeded limit. A partition without an error counts as added.

        Existing offsets may always be updated. Kafka has no limit of offsets: INVALID_COMMIT_OFFSET_SIZE is its error for a
        commit that is too large to be stored.
        """
        if entry.metadata and _is_too_large(entry.metadata, self._config.offset_metadata_max_bytes):
            return ErrorCode.OFFSET_METADATA_TOO_LARGE
        # A shortcut: nearly all commits update offsets that were committed before in the same call.
        known = self._group.offsets.known.get(topic)
        if known is not None and entry.partition in known:
            return _NONE
        if self._group.holds_offset(topic, entry.partition) or self._admits(topic, entry.partition):
            return _NONE
        return ErrorCode.INVALID_COMMIT_OFFSET_SIZE

    def _admits(self, topic: str, partition: int) -> bool:
        if self._room is None:
            self._room = self._config.group_max_offsets - self._group.count_offsets()
        if (topic, partition) not in self._added and len(self._added) >= self._room:
            return False
        self._added.add((topic, partition))
        return True


def _commit(
    topics: Iterable[TopicCommit], terms: CommitTerms, limits: CommitLimits
) -> tuple[list[OffsetRecord], list[TopicResult]]:
    records, results = [], []
    for topic in topics:
        name = topic.name or ""
        partitions = []
        for entry in topic.partitions:
            error = limits.error_of(name, entry)
            partitions.append(PartitionResult(entry.partition, error))
            if error is not _NONE:
                continue
            offset = CommittedOffset(
                offset=entry.offset,
                leader_epoch=entry.leader_epoch,
                metadata=entry.metadata or "",
                commit_timestamp_ms=(
                    terms.now_ms if entry.commit_timestamp_ms is None else entry.commit_timestamp_ms
                ),
                expire_timestamp_ms=terms.expire_timestamp_ms,
                topic_id=topic.topic_id,
            )
            records.append(
                OffsetRecord(
                    topic=name,
                    partition=entry.partition,
                    value=offset,
                    reason=terms.reason,
                    producer_id=terms.producer_id,
                    markers_end_offset=terms.markers_end_offset,
                    producer_epoch=terms.producer_epoch,
                )
            )
        results.append(TopicResult(topic.name, topic.topic_id, tuple(partitions)))
    return records, results


def _is_too_large(metadata: str, longest: int) -> bool:
    # Kafka compares the length of a Java string; a character has at most two Java characters.
    if len(metadata) * 2 <= longest:
        return False
    return utf16_length(metadata) > longest
