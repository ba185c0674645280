"""ConsumerGroupDescribe 0-1 (KIP-848) of a group. Version 1 has the protocol of each member.

Source: ConsumerGroup.asDescribedGroup and ConsumerGroupMember.asConsumerGroupDescribeMember in Kafka 4.4.
Stories: stories/consumer/consumer_fetches.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from group_coordinator.core.acls import (
    TO_SEE_TOPICS,
    UNSEEN_TOPICS,
    ResourceType,
    Rights,
    operations_on,
)
from group_coordinator.core.consumer.target_assignment import preferred_assignor
from group_coordinator.core.consumer.validation import known_consumer_group
from group_coordinator.core.model.changes import Decision
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import ConsumerMember
from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.requests import ConsumerGroupDescribe, RequestContext, Topic
from group_coordinator.core.model.responses import (
    ConsumerGroupDescribeResponse,
    DescribedConsumer,
    Reply,
)


def decide(
    group: Group, request: ConsumerGroupDescribe, context: RequestContext, config: CoordinatorConfig
) -> Decision:
    """Describe the group. Nothing changes.

    Raises CoordinatorError: INVALID_GROUP_ID, GROUP_ID_NOT_FOUND, TOPIC_AUTHORIZATION_FAILED.
    """
    if not request.group_id:
        raise CoordinatorError(ErrorCode.INVALID_GROUP_ID)
    response = _described(group, known_consumer_group(group), config)
    if context.rights is not None:
        _check_topics(response, context.rights)
    if request.asks_for_operations:
        response = response.replace(operations=operations_on(group.group_id, context.rights))
    return Decision([], [Reply(context.ticket, response)])


def _check_topics(response: ConsumerGroupDescribeResponse, rights: Rights) -> None:
    # One topic without the DESCRIBE right hides the whole group.
    names = {
        topic.name: None
        for member in response.members
        for topic, _ in (*member.assignment, *member.target)
    }
    hidden = [name for name in names if not rights.has(TO_SEE_TOPICS, ResourceType.TOPIC, name)]
    if hidden:
        raise CoordinatorError(ErrorCode.TOPIC_AUTHORIZATION_FAILED, UNSEEN_TOPICS)


def _described(
    group: Group, membership: ConsumerGroup, config: CoordinatorConfig
) -> ConsumerGroupDescribeResponse:
    topics = group.topics_by_id()
    members = sorted(membership.members.items())
    return ConsumerGroupDescribeResponse(
        error=ErrorCode.NONE,
        error_message=None,
        group_id=group.group_id,
        state=membership.state,
        epoch=membership.epoch,
        assignment_epoch=membership.assignment_epoch,
        assignor=preferred_assignor(membership, config.assignors[0]),
        members=tuple([_member(membership, member, topics) for _, member in members]),
    )


def _member(
    membership: ConsumerGroup, member: ConsumerMember, topics: Mapping[str, Topic]
) -> DescribedConsumer:
    current = member.current
    held: dict[str, list[int]] = {}
    # A member owns partitions that it has yet to revoke: Kafka shows them as assigned.
    for partitions in (current.assigned, current.pending_revocation):
        for topic_id, of_topic in partitions.items():
            held.setdefault(topic_id, []).extend(of_topic)
    target = membership.target_of(member.member_id)
    return DescribedConsumer(member, _named(held, topics), _named(target, topics))


def _named(
    partitions: Mapping[str, list[int] | tuple[int, ...]], topics: Mapping[str, Topic]
) -> tuple[tuple[Topic, tuple[int, ...]], ...]:
    # Deleted topics have no known name: they are left out.
    return tuple(
        (topics[topic_id], tuple(sorted(of_topic)))
        for topic_id, of_topic in partitions.items()
        if topic_id in topics
    )
