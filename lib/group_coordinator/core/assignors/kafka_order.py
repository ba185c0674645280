"""The order in which Kafka's assignors find members and topics; see `Assignor`."""

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
    """The members of a group in the order of the table that TargetAssignmentBuilder makes of them.

    `present` are those that were there before the request, in the order in which they joined; `updated` is the member
    that asks, new or not; `replaced` the static member whose place it takes.
    """
    puts = timeline_order(present)
    changes = [updated] if replaced is None else [updated, replaced]
    most = len(puts)
    for change in hash_map_order(changes, string_spot, DEFAULT_TABLE_SIZE):
        if change == replaced:
            puts.remove(change)
        elif change not in puts:
            puts.append(change)
        most = max(most, len(puts))
    return hash_map_order(puts, string_spot, grown_table_size(DEFAULT_TABLE_SIZE, most))


def subscribed_order(names: Collection[str], found: Collection[str] = ()) -> list[str]:
    """The topics that a member wants, by name or found by its regex, in the order of Kafka's UnionSet of both."""
    large, small = (names, found) if len(names) > len(found) else (found, names)
    return list(dict.fromkeys([*topic_name_order(large), *topic_name_order(small)]))


def topic_name_order(names: Collection[str]) -> list[str]:
    """The topics of a subscription, or of a resolved regex, as Kafka has them in memory."""
    return hash_map_order(sorted(names), string_spot, table_size_of_copy(len(names)))
