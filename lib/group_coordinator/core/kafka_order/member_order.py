"""The order in which Kafka finds the members of a group: that of its hash tables.

It decides who leads a group after a downgrade, and whose timer of the same millisecond runs out first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from group_coordinator.core.kafka_order.java_tables import (
    new_hash_map_order,
    timeline_order,
)


def consumer_group_order(member_ids: Iterable[str], room: int) -> list[str]:
    """The members of a consumer group, which came in the given order; `room` is its member_room."""
    return timeline_order(member_ids, room)


def upgraded_group_order(member_ids: Iterable[str]) -> list[str]:
    """The members of a classic group, in its order, as the request finds them that makes it a consumer group."""
    return timeline_order(member_ids)


def classic_group_order(member_ids: Sequence[str]) -> list[str]:
    """The members of a classic group, which came in the given order."""
    return new_hash_map_order(member_ids)
