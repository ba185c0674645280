"""Topic metadata of a group."""

from __future__ import annotations

from group_coordinator.core.value import Value


class Topic(Value, frozen=True):
    """A topic of the cluster in a group's topic metadata."""

    name: str
    topic_id: str
    num_partitions: int
    racks: tuple[tuple[str, ...], ...] | None = None
    """The racks of each partition's replicas, sorted; None: unknown."""
