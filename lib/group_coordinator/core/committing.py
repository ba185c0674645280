"""What OffsetCommit and TxnOffsetCommit have in common: which partitions exist, and the records of those that do."""

from __future__ import annotations

from collections.abc import Iterable

from group_coordinator.core.errors import ErrorCode
from group_coordinator.core.group import Group
from group_coordinator.core.records import OffsetRecord, Reason, Record
from group_coordinator.core.requests import TopicCommit
from group_coordinator.core.responses import PartitionResult, TopicResult
from group_coordinator.core.topic_results import same_result
from group_coordinator.core.values import CommittedOffset


def refused(topic: TopicCommit, error: ErrorCode) -> TopicResult:
    """One error for every partition of a topic."""
    partitions = (entry.partition for entry in topic.partitions)
    return same_result(topic.name, topic.topic_id, partitions, error)


def existing_part(
    group: Group, topic: TopicCommit, missing: list[TopicResult]
) -> TopicCommit | None:
    """The topic with the partitions that exist, None if none does; UNKNOWN_TOPIC_OR_PARTITION for the others."""
    name = topic.name or ""
    present = [p for p in topic.partitions if group.partition_exists(name, p.partition)]
    absent = [p for p in topic.partitions if not group.partition_exists(name, p.partition)]
    if absent:
        unknown = topic.replace(partitions=tuple(absent))
        missing.append(refused(unknown, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
    return topic.replace(partitions=tuple(present)) if present else None


def commit(
    topics: Iterable[TopicCommit],
    now_ms: int,
    expire_timestamp_ms: int | None,
    producer_id: int | None,
    metadata_max_bytes: int,
    records: list[Record],
) -> list[TopicResult]:
    """One record for each partition whose metadata is not too long; the results of all of them."""
    results = []
    reason = Reason.OFFSET_COMMIT
    for topic in topics:
        name = topic.name or ""
        partitions = []
        for entry in topic.partitions:
            if entry.metadata and _is_too_large(entry.metadata, metadata_max_bytes):
                too_large = PartitionResult(entry.partition, ErrorCode.OFFSET_METADATA_TOO_LARGE)
                partitions.append(too_large)
                continue
            partitions.append(PartitionResult(entry.partition, ErrorCode.NONE))
            offset = CommittedOffset(
                entry.offset,
                entry.leader_epoch,
                entry.metadata or "",
                now_ms if entry.commit_timestamp_ms is None else entry.commit_timestamp_ms,
                expire_timestamp_ms,
                topic.topic_id,
            )
            records.append(OffsetRecord(name, entry.partition, offset, reason, producer_id))
        results.append(TopicResult(topic.name, topic.topic_id, tuple(partitions)))
    return results


def _is_too_large(metadata: str, longest: int) -> bool:
    """Kafka compares the length of a Java string, which counts a character beyond the BMP as two."""
    if len(metadata) * 2 <= longest:
        return False
    return len(metadata.encode("utf-16-le", "surrogatepass")) // 2 > longest
