"""Kafka's uniform assignor: all members get equally many partitions, and keep what they have as far as that allows."""

from __future__ import annotations

from collections.abc import Mapping

from group_coordinator.core.assignors.heterogeneous import assign_heterogeneous
from group_coordinator.core.assignors.homogeneous import assign_homogeneous
from group_coordinator.core.assignors.spec import (
    Assignment,
    MemberSpec,
    SubscriptionType,
    TopicSpec,
)
from group_coordinator.core.assignors.subscriptions import type_told_by_topic_ids


def assign_uniformly(
    members: Mapping[str, MemberSpec],
    topics: Mapping[str, TopicSpec],
    subscription_type: SubscriptionType | None = None,
    /,
) -> dict[str, Assignment]:
    """UniformAssignor of Kafka 4.4; see `Assignor`. Racks do not count: Kafka 4.4 does not look at them."""
    if not any(member.topic_ids for member in members.values()):
        return {member_id: {} for member_id in members}
    kind = subscription_type or type_told_by_topic_ids(members.values())
    if kind is SubscriptionType.HOMOGENEOUS:
        return assign_homogeneous(members, topics)
    return assign_heterogeneous(members, topics)
