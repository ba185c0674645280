"""What an assignor is told of a group, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from group_coordinator.core.value import Value

Assignment: TypeAlias = dict[str, tuple[int, ...]]
"""Partitions by topic id (Kafka's 22 characters): ascending, no empty tuples."""


class MemberSpec(Value, frozen=True):
    """A member as an assignor sees it; `assignment` is its present target."""

    rack_id: str | None
    group_instance_id: str | None
    topic_ids: frozenset[str]
    assignment: Assignment


class TopicSpec(Value, frozen=True):
    """A topic as an assignor sees it; `racks` has the racks of each partition's replicas, None where nobody told."""

    num_partitions: int
    racks: tuple[frozenset[str], ...] | None


Assignor: TypeAlias = Callable[
    [Mapping[str, MemberSpec], Mapping[str, TopicSpec]], dict[str, Assignment]
]
"""(members by id, topics by id) -> assignment by member id; every member has an entry."""
