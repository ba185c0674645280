"""Topics, as groups know them."""

from __future__ import annotations

from group_coordinator.core.value import Value


class Topic(Value, frozen=True):
    """What a group knows of one topic of the cluster."""

    name: str
    topic_id: str
    num_partitions: int
    racks: tuple[tuple[str, ...], ...] | None = None
    """The racks of each partition's replicas, sorted; None: not known."""
