"""Which of the cluster's topics a group must know."""

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
    """Topics by name, and patterns that topics' names may match; each sorted."""

    names: tuple[str, ...] = ()
    regexes: tuple[str, ...] = ()


NOTHING = TopicNeed()


def topic_need(group: Group) -> TopicNeed:
    """What a consumer group's members subscribe to; other groups need none."""
    membership = group.membership
    if not isinstance(membership, ConsumerGroup):
        return NOTHING
    return TopicNeed(
        tuple(sorted(membership.topic_subscribers)), tuple(sorted(membership.regex_subscribers))
    )


def missing_topics(group: Group, request: Request) -> TopicNeed | None:
    """What a group must know before it can take a request; None: it may go on.

    Without the ids of its topics partitions would be taken from members that have them, or given to others as well. A
    broker reads the cluster's topics before it loads groups.
    """
    # Asked of every request: isinstance takes several times as long.
    if type(request) not in _REQUESTS_THAT_ASSIGN or group.topics is not None:
        return None
    membership = group.membership
    if isinstance(membership, ConsumerGroup):
        return topic_need(group) if _knew_topics(membership) else None
    if membership is None or not isinstance(request, ConsumerGroupHeartbeat):
        return None
    return _before_upgrade(membership, request)


def _knew_topics(membership: ConsumerGroup) -> bool:
    """Whether the group knew topics when it wrote the log from which it has been rebuilt."""
    return bool(membership.metadata_hash or membership.owners)


def _before_upgrade(membership: ClassicGroup, request: ConsumerGroupHeartbeat) -> TopicNeed | None:
    """The assignments of a classic group's members name topics, a consumer group's their ids."""
    if (
        request.member_epoch != JOIN_EPOCH
        or not membership.members
        or not membership.subscribed_topics
    ):
        return None
    return TopicNeed(tuple(sorted(membership.subscribed_topics)))
