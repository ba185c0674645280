"""Which of the cluster's topics a group has to know about."""

from __future__ import annotations

from group_coordinator.core.consumer_group import ConsumerGroup
from group_coordinator.core.group import ClassicGroup, Group
from group_coordinator.core.requests import ConsumerGroupHeartbeat, Request
from group_coordinator.core.value import Value

_JOINS = 0


class TopicNeed(Value, frozen=True):
    """Topics by name, and patterns that topics' names may match; each sorted."""

    names: tuple[str, ...] = ()
    regexes: tuple[str, ...] = ()


NOTHING = TopicNeed()


def topic_need(group: Group) -> TopicNeed:
    """What a consumer group's members subscribe to; other groups do without."""
    membership = group.membership
    if not isinstance(membership, ConsumerGroup):
        return NOTHING
    return TopicNeed(
        tuple(sorted(membership.topic_subscribers)), tuple(sorted(membership.regex_subscribers))
    )


def topics_before_upgrade(group: Group, request: Request) -> TopicNeed | None:
    """What a classic group has to know before it can become a consumer group; None: it may go on.

    Its members' assignments name topics, a consumer group's their ids: without these its partitions would be given to
    others as well.
    """
    if not isinstance(request, ConsumerGroupHeartbeat) or group.topics is not None:
        return None
    membership = group.membership
    if not isinstance(membership, ClassicGroup) or not membership.members:
        return None
    if request.member_epoch != _JOINS or not membership.subscribed_topics:
        return None
    return TopicNeed(tuple(sorted(membership.subscribed_topics)))
