"""TopicMetadata (ours): what a group may know of the cluster's topics; offsets of deleted topics go at once.

Source of the rule: OffsetMetadataManager.onTopicsDeleted in Kafka 4.3: an offset goes if it was committed for the
deleted topic id, or for no id.
"""

from __future__ import annotations

from group_coordinator.core.config import CoordinatorConfig
from group_coordinator.core.decision import Decision
from group_coordinator.core.group import Group
from group_coordinator.core.records import OffsetRecord, Reason, Record
from group_coordinator.core.requests import RequestContext, TopicMetadata


def _partitions_of(group: Group, name: str, topic_ids: set[str]) -> list[int]:
    """Those with an offset of the deleted topic, and once more for every offset that waits for its transaction's end.

    Kafka goes through what is committed and through each producer's offsets, and leaves a tombstone every time.
    """
    committed = [
        partition
        for partition, offset in group.offsets.get(name, {}).items()
        if offset.topic_id is None or offset.topic_id in topic_ids
    ]
    pending = [
        partition
        for (topic, partition), producers in group.pending.items()
        if topic == name
        for _ in producers
    ]
    return sorted(committed + pending)


def decide(
    group: Group,
    request: TopicMetadata,
    context: RequestContext,  # noqa: ARG001 - one signature for all handlers
    config: CoordinatorConfig,  # noqa: ARG001
) -> Decision:
    """Replace what the group knows; tombstones for the offsets of deleted topics, whatever the group's state."""
    deleted_ids: dict[str, set[str]] = {}
    for name, topic_id in request.deleted_topics:
        deleted_ids.setdefault(name, set()).add(topic_id)
    records: list[Record] = [
        OffsetRecord(name, partition, None, Reason.TOPIC_DELETED)
        for name, topic_ids in sorted(deleted_ids.items())
        for partition in _partitions_of(group, name, topic_ids)
    ]
    return Decision(records, [], topics={topic.name: topic for topic in request.topics})
