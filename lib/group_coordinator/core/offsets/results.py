"""Merges the two halves of results by partition, as KafkaApis does: missing partitions first, then the coordinator's results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.responses import PartitionResult, TopicResult


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
