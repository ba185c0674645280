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


def _partitions_of(group: Group, name: str, topic_id: str) -> list[int]:
    """Those with an offset of the deleted topic, also one that waits for the end of its transaction."""
    committed = {
        partition
        for partition, offset in group.offsets.get(name, {}).items()
        if offset.topic_id in (None, topic_id)
    }
    return sorted(committed | {partition for topic, partition in group.pending if topic == name})


def decide(
    group: Group,
    request: TopicMetadata,
    context: RequestContext,  # noqa: ARG001 - one signature for all handlers
    config: CoordinatorConfig,  # noqa: ARG001
) -> Decision:
    """Replace what the group knows; tombstones for the offsets of deleted topics, whatever the group's state."""
    records: list[Record] = [
        OffsetRecord(name, partition, None, Reason.TOPIC_DELETED)
        for name, topic_id in sorted(request.deleted_topics)
        for partition in _partitions_of(group, name, topic_id)
    ]
    return Decision(records, [], topics={topic.name: topic for topic in request.topics})
