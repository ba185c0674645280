"""The topic subscriptions of groups: topics whose metadata a group needs."""

from __future__ import annotations

from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import JOIN_EPOCH
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.requests import (
    ConsumerGroupHeartbeat,
    JoinGroup,
    LeaveGroup,
    Request,
)
from group_coordinator.core.value import Value

_REQUESTS_THAT_ASSIGN = frozenset({ConsumerGroupHeartbeat, JoinGroup, LeaveGroup})


class TopicNeed(Value, frozen=True):
    """A topic subscription: names of topics, and regular expressions that names may match. Both are sorted."""

    names: tuple[str, ...] = ()
    regexes: tuple[str, ...] = ()


NOTHING = TopicNeed()


def topic_need(group: Group) -> TopicNeed:
    """Return the topic subscription of a consumer group's members; other groups need no topics."""
    membership = group.membership
    if not isinstance(membership, ConsumerGroup):
        return NOTHING
    return TopicNeed(
        tuple(sorted(membership.topic_subscribers)), tuple(sorted(membership.regex_subscribers))
    )


def missing_topics(group: Group, request: Request) -> TopicNeed | None:
    """Return the topics whose metadata a group needs before it can handle a request; None: no topics are missing.

    Without topic ids, members would lose partitions, or a partition would be assigned twice. A broker reads the cluster's
    topics before it loads groups.
    """
    # Every request passes here, and isinstance takes several times as long.
    if type(request) not in _REQUESTS_THAT_ASSIGN or group.topics is not None:
        return None
    membership = group.membership
    if isinstance(membership, ConsumerGroup):
        return topic_need(group) if _knew_topics(membership) else None
    # Only a member of the consumer protocol begins an upgrade.
    if membership is None or not isinstance(request, ConsumerGroupHeartbeat):
        return None
    return _before_upgrade(membership, request)


def _knew_topics(membership: ConsumerGroup) -> bool:
    # A rebuilt group had topic metadata when it wrote the log.
    return bool(membership.metadata_hash or membership.owners)


def _before_upgrade(membership: ClassicGroup, request: ConsumerGroupHeartbeat) -> TopicNeed | None:
    # The assignments of classic members have topic names, those of a consumer group topic ids.
    if (
        request.member_epoch != JOIN_EPOCH
        or not membership.members
        or not membership.subscribed_topics
    ):
        return None
    return TopicNeed(tuple(sorted(membership.subscribed_topics)))
