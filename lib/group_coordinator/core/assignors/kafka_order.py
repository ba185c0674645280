"""The order in which Kafka tells its assignors of members and topics; see `Assignor`."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from group_coordinator.core.assignors.java_order import (
    DEFAULT_TABLE_SIZE,
    grown_table_size,
    hash_map_order,
    string_spot,
    table_size_of_copy,
    timeline_order,
)


def member_order(present: Iterable[str], updated: str, replaced: str | None = None) -> list[str]:
    """The members of a group, as TargetAssignmentBuilder puts them into the table that the assignor reads.

    `present` are those that were there before the request, in the order in which they joined; `updated` is the member
    that asks, new or not; `replaced` the static member whose place it takes.
    """
    stay = [member_id for member_id in timeline_order(present) if member_id != replaced]
    return stay if updated in stay else [*stay, updated]


def topic_name_order(names: Collection[str]) -> list[str]:
    """The topics of a subscription, or of a resolved regex, as Kafka has them in memory."""
    return hash_map_order(sorted(names), string_spot, table_size_of_copy(len(names)))


def table_order(member_ids: Collection[str]) -> list[str]:
    """The members as the assignor finds them in that table, and as their records follow each other."""
    table_size = grown_table_size(DEFAULT_TABLE_SIZE, len(member_ids))
    return hash_map_order(member_ids, string_spot, table_size)
