"""TopicMetadata (our own): the cluster's topics for a group. Offsets of deleted topics are removed at once.

Source of the rule: OffsetMetadataManager.onTopicsDeleted in Kafka 4.4. An offset is removed if it was committed for the deleted
topic id, or without a topic id.
Stories: stories/offsets/topics.py, stories/consumer/consumer_endings.py.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from group_coordinator.core.model.changes import (
    Change,
    Decision,
    MetadataDeadlineSet,
    TopicsLearned,
)
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import OffsetRecord, Reason, Record
from group_coordinator.core.model.requests import (
    ConsumerGroupHeartbeat,
    RequestContext,
    Topic,
    TopicMetadata,
)


def decide(
    group: Group,
    request: TopicMetadata,
    context: RequestContext,  # noqa: ARG001 - one signature for all handlers
    config: CoordinatorConfig,  # noqa: ARG001
) -> Decision:
    """Replace the group's topic metadata, and return tombstones for offsets of deleted topics, in every state."""
    # A name may have been deleted several times since the event before, with different ids.
    deleted_ids: dict[str, set[str]] = {}
    for name, topic_id in request.deleted_topics:
        deleted_ids.setdefault(name, set()).add(topic_id)
    records: list[Record] = [
        OffsetRecord(name, partition, None, Reason.TOPIC_DELETED)
        for name, topic_ids in sorted(deleted_ids.items())
        for partition in _partitions_of(group, name, topic_ids)
    ]
    topics, are_complete = _known_then(group, request, deleted_ids)
    # Without a version each event counts as the next one.
    version = group.topics_version + 1 if request.version is None else request.version
    known = group.topics_by_id()
    # All topics are new to a group that was rebuilt, even if there are none any more.
    brings_new_ones = group.topics is None or any(t.topic_id not in known for t in request.topics)
    learned = TopicsLearned(topics, version, brings_new_ones, are_complete)
    return Decision(records, [], (learned, *_refresh(group, topics)))


def of_heartbeat(group: Group, request: ConsumerGroupHeartbeat) -> Decision:
    """Learn topics from a heartbeat in a group without topic metadata, as from an incomplete TopicMetadata before it.

    A broker knows the cluster's topics, and assigns partitions to the first member of a group at once. A group that has topic
    metadata ignores the topics in heartbeats: its metadata is kept up to date, and those topics may be outdated.
    """
    topics = {topic.name: topic for topic in request.known_topics}
    version = group.topics_version + 1
    learned = TopicsLearned(topics, version, brings_new_ones=True, are_complete=False)
    return Decision([], [], (learned,))


def _known_then(
    group: Group, request: TopicMetadata, deleted_ids: Mapping[str, Collection[str]]
) -> tuple[dict[str, Topic], bool]:
    """Return the topics that the group will know, and True if they are complete.

    A group with complete metadata keeps its other topics after an incomplete event: the job sends only the topics of its
    cluster, and other senders may have sent others.
    """
    received = {topic.name: topic for topic in request.topics}
    if request.is_complete or group.topics is None or not group.topics_are_complete:
        return received, request.is_complete
    kept = {
        name: topic
        for name, topic in group.topics.items()
        if topic.topic_id not in deleted_ids.get(name, ())
    }
    return kept | received, True


def _partitions_of(group: Group, name: str, topic_ids: set[str]) -> list[int]:
    # Kafka writes a tombstone for the committed offset, and for the offset of each producer.
    committed = [
        partition
        for partition, offset in group.committed(name).items()
        if offset.topic_id is None or offset.topic_id in topic_ids
    ]
    pending = [
        partition
        for (topic, partition), producers in group.pending.items()
        if topic == name
        for _ in producers
    ]
    return sorted(committed + pending)


def _refresh(group: Group, topics: Mapping[str, Topic]) -> tuple[Change, ...]:
    # The next heartbeat compares the metadata hash if a subscribed topic has changed.
    known = group.topics or {}
    if group.consumer is None:
        return ()
    changed = {name for name in known.keys() | topics.keys() if known.get(name) != topics.get(name)}
    if not any(map(group.consumer.is_subscribed_to, changed)):
        return ()
    return (MetadataDeadlineSet(0),)
