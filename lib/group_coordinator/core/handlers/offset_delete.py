"""OffsetDelete 0 (KIP-496): deletes offsets of topics without subscribers, also in a group with members.

Source: KafkaApis.handleOffsetDeleteRequest and OffsetMetadataManager.deleteOffsets in Kafka 4.4.
Stories: stories/offsets/deletions.py, stories/consumer/consumer_endings.py.
"""

from __future__ import annotations

from group_coordinator.core.acls import TO_CHANGE_OFFSETS, ResourceType, Rights
from group_coordinator.core.model.changes import Decision
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.group import Group, is_empty
from group_coordinator.core.model.records import OffsetRecord, Reason, Record
from group_coordinator.core.model.requests import OffsetDelete, RequestContext, TopicPartitions
from group_coordinator.core.model.responses import OffsetDeleteResponse, Reply, TopicResult
from group_coordinator.core.offsets.committing import merge, same_result


def decide(
    group: Group,
    request: OffsetDelete,
    context: RequestContext,
    config: CoordinatorConfig,  # noqa: ARG001 - one signature for all handlers
) -> Decision:
    """Return tombstones for the committed offsets. A partition without an offset is no error.

    Raises CoordinatorError: INVALID_GROUP_ID, GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP (its members are not consumers).
    """
    membership = _check(group, request)
    missing: list[TopicResult] = []
    results: list[TopicResult] = []
    records: list[Record] = []
    for topic in request.topics:
        name = topic.name or ""
        present, error_result = _sorted_out(group, topic, context.rights)
        if error_result is not None:
            missing.append(error_result)
        if not present:
            continue
        # Offsets of a subscribed topic are in use (KIP-496).
        subscribed = membership.is_subscribed_to(name)
        error = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if subscribed else ErrorCode.NONE
        results.append(same_result(name, None, present, error))
        # The error of a topic does not keep the other topics from being deleted, as in Kafka.
        if not subscribed:
            records += _tombstones(group, name, present)
    response = OffsetDeleteResponse(ErrorCode.NONE, merge(missing, results))
    return Decision(records, [Reply(context.ticket, response)])


def _sorted_out(
    group: Group, topic: TopicPartitions, rights: Rights | None
) -> tuple[list[int], TopicResult | None]:
    """Return the partitions to delete, and the result of all others. A topic that does not exist always has a result."""
    name = topic.name or ""
    if rights is not None and not rights.has(TO_CHANGE_OFFSETS, ResourceType.TOPIC, name):
        denied = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        return [], same_result(name, None, topic.partitions, denied)
    present = [p for p in topic.partitions if group.partition_exists(name, p)]
    absent = [p for p in topic.partitions if not group.partition_exists(name, p)]
    # Kafka reports a missing topic even if the request names no partition of it.
    if not absent and group.partition_exists(name, 0):
        return present, None
    return present, same_result(name, None, absent, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


def _tombstones(group: Group, topic: str, partitions: list[int]) -> list[OffsetRecord]:
    committed = group.committed(topic)
    return [
        OffsetRecord(topic, partition, None, Reason.OFFSET_DELETED)
        for partition in partitions
        # A partition without an offset needs no tombstone.
        if partition in committed or (topic, partition) in group.pending
    ]


def _check(group: Group, request: OffsetDelete) -> ClassicGroup | ConsumerGroup:
    if not request.group_id:
        raise CoordinatorError(ErrorCode.INVALID_GROUP_ID)
    membership = group.membership
    if membership is None:
        raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND)
    classic = group.classic
    # Subscriptions of other protocol types are unreadable, so any topic may be in use.
    if classic is not None and not is_empty(classic) and not classic.is_of_consumers:
        raise CoordinatorError(ErrorCode.NON_EMPTY_GROUP)
    return membership
