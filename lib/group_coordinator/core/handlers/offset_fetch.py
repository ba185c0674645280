"""OffsetFetch 1-10 of a group. Version 2 has all partitions, 7 requireStable, 8 several groups, 10 topic ids.

Source: KafkaApis.handleOffsetFetchRequest and OffsetMetadataManager.fetchOffsets in Kafka 4.4. An unknown group is no error: it
has no committed offsets. Classic groups check neither member nor generation; consumer groups do.
Stories: stories/offsets/fetches.py, stories/consumer/consumer_fetches.py.
"""

from __future__ import annotations

from collections.abc import Iterable

from group_coordinator.core.acls import TO_SEE_TOPICS, ResourceType, Rights
from group_coordinator.core.consumer import validation
from group_coordinator.core.model.changes import Decision
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.requests import (
    TOPIC_IDS_SINCE,
    OffsetFetch,
    RequestContext,
    TopicPartitions,
)
from group_coordinator.core.model.responses import (
    FetchedPartition,
    FetchedTopic,
    OffsetFetchResponse,
    Reply,
)
from group_coordinator.core.model.topic_offsets import CommittedOffset
from group_coordinator.core.offsets.expiration import offsets_in_order


def decide(
    group: Group,
    request: OffsetFetch,
    context: RequestContext,
    config: CoordinatorConfig,  # noqa: ARG001 - one signature for all handlers
) -> Decision:
    """Return committed offsets. Nothing changes.

    Raises CoordinatorError: UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH, ILLEGAL_GENERATION (in consumer groups).
    """
    if isinstance(group.membership, ConsumerGroup):
        validation.check_fetch(group.membership, request)
    by_id, rights = context.ticket.version >= TOPIC_IDS_SINCE, context.rights
    errors: list[FetchedTopic] = []
    if request.topics is None:
        topics = _shown(_all_topics(group), rights)
        if by_id:
            # A response with topic ids cannot name a topic without an id.
            topics = [topic for topic in topics if topic.topic_id is not None]
    elif by_id:
        topics, errors = _topics_by_id(group, request.topics, rights)
    else:
        topics, errors = _topics_by_name(group, request.topics, rights)
    if request.require_stable:
        topics = [_without_unstable(group, topic) for topic in topics]
    response = OffsetFetchResponse(ErrorCode.NONE, request.group_id, (*topics, *errors))
    return Decision([], [Reply(context.ticket, response)])


def _shown(topics: list[FetchedTopic], rights: Rights | None) -> list[FetchedTopic]:
    # The request did not name these topics, so a hidden topic is left out and is no denial.
    if rights is None:
        return topics
    kind = ResourceType.TOPIC
    return [topic for topic in topics if rights.may(TO_SEE_TOPICS, kind, topic.name or "")]


def _without_unstable(group: Group, topic: FetchedTopic) -> FetchedTopic:
    # An open transaction may replace the committed offset, so it is not stable (KIP-447).
    partitions = tuple(
        FetchedPartition(entry.partition, error=ErrorCode.UNSTABLE_OFFSET_COMMIT)
        if (topic.name, entry.partition) in group.pending
        else entry
        for entry in topic.partitions
    )
    return topic.replace(partitions=partitions)


def _all_topics(group: Group) -> list[FetchedTopic]:
    found: dict[str, list[FetchedPartition]] = {}
    for topic, partition, offset in offsets_in_order(group):
        found.setdefault(topic, []).append(_fetched(partition, offset))
    return [
        FetchedTopic(name, _topic_id(group, name), tuple(partitions))
        for name, partitions in found.items()
    ]


def _topic_id(group: Group, name: str) -> str | None:
    # The first committed offset with a topic id decides, else the present topic.
    committed = group.committed(name)
    first = min([number for number, offset in committed.items() if offset.topic_id], default=None)
    if first is not None:
        return committed[first].topic_id
    known = (group.topics or {}).get(name)
    return known.topic_id if known else None


def _topics_by_name(
    group: Group, topics: Iterable[TopicPartitions], rights: Rights | None
) -> tuple[list[FetchedTopic], list[FetchedTopic]]:
    found, errors = [], []
    for topic in topics:
        if _is_denied(topic.name or "", rights):
            errors.append(_topic_error(topic, ErrorCode.TOPIC_AUTHORIZATION_FAILED))
        else:
            committed = group.committed(topic.name or "")
            partitions = tuple(_fetched(p, committed.get(p)) for p in topic.partitions)
            found.append(FetchedTopic(topic.name, None, partitions))
    return found, errors


def _topics_by_id(
    group: Group, topics: Iterable[TopicPartitions], rights: Rights | None
) -> tuple[list[FetchedTopic], list[FetchedTopic]]:
    found, errors = [], []
    by_id = group.topics_by_id()
    for topic in topics:
        named = by_id.get(topic.topic_id or "")
        if named is None:
            errors.append(_topic_error(topic, ErrorCode.UNKNOWN_TOPIC_ID))
        elif _is_denied(named.name, rights):
            errors.append(_topic_error(topic, ErrorCode.TOPIC_AUTHORIZATION_FAILED))
        else:
            committed = group.committed(named.name)
            partitions = [
                _of_topic_id(p, committed.get(p), named.topic_id) for p in topic.partitions
            ]
            found.append(FetchedTopic(named.name, named.topic_id, tuple(partitions)))
    return found, errors


def _is_denied(name: str, rights: Rights | None) -> bool:
    return rights is not None and not rights.has(TO_SEE_TOPICS, ResourceType.TOPIC, name)


def _topic_error(topic: TopicPartitions, error: ErrorCode) -> FetchedTopic:
    partitions = tuple([FetchedPartition(number, error=error) for number in topic.partitions])
    return FetchedTopic(topic.name, topic.topic_id, partitions)


def _of_topic_id(partition: int, offset: CommittedOffset | None, topic_id: str) -> FetchedPartition:
    # An offset of an earlier topic with the same name does not count.
    if offset is not None and offset.topic_id not in (None, topic_id):
        return FetchedPartition(partition)
    return _fetched(partition, offset)


def _fetched(partition: int, offset: CommittedOffset | None) -> FetchedPartition:
    if offset is None:
        return FetchedPartition(partition)
    return FetchedPartition(partition, offset.offset, offset.leader_epoch, offset.metadata)
