"""What an assignor gets of a group, and what it gives back."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Protocol, TypeAlias

from group_coordinator.core.value import Value

Assignment: TypeAlias = dict[str, tuple[int, ...]]
"""Partitions by topic id (Kafka's 22 characters): ascending, no empty tuples."""


NO_PARTITIONS: Assignment = {}


class MemberSpec(Value, frozen=True):
    """A member as an assignor sees it; `assignment` is its present target."""

    rack_id: str | None
    group_instance_id: str | None
    topic_ids: frozenset[str]
    assignment: Assignment
    given_up: Assignment = NO_PARTITIONS
    """The target that it had before it took another member's place, with that one's target: nobody gets it this time."""


class TopicSpec(Value, frozen=True):
    """A topic as an assignor sees it; `racks` has the racks of each partition's replicas, None if they are not known."""

    num_partitions: int
    racks: tuple[frozenset[str], ...] | None


class SubscriptionType(Enum):
    """Whether all members want the same: Kafka compares names and regexes, unknown topics included (subscriptions.py)."""

    HOMOGENEOUS = "homogeneous"
    HETEROGENEOUS = "heterogeneous"


class Assignor(Protocol):
    """Decides who gets which partition."""

    def __call__(
        self,
        members: Mapping[str, MemberSpec],
        topics: Mapping[str, TopicSpec],
        subscription_type: SubscriptionType | None = None,
        /,
    ) -> dict[str, Assignment]:
        """(members by id, topics by id) -> assignment by member id; every member has an entry.

        Where Kafka leaves a choice to its hash tables, the order of both mappings makes it, and that of the topics in
        an assignment: give the members in `member_order`, the topics in the `subscribed_order` of the first member,
        an assignment as its record has it. The answer is in the order of Kafka's records again. Without a
        subscription type the members' topic ids decide. Raises PartitionAssignorError.
        """


class PartitionAssignorError(Exception):
    """There is no assignment: a member wants a topic that is not among the topics, or holds partitions beyond its end."""
