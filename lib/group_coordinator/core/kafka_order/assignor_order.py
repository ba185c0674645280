"""The order in which Kafka's assignors find members and topics; see `Assignor`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from group_coordinator.core.kafka_order.java_tables import (
    hash_map_order,
    new_hash_map_order,
    string_spot,
    table_size_of_copy,
)


def member_order(present: Iterable[str], updated: str, replaced: str | None = None) -> list[str]:
    """The members of a group in the order of the table that TargetAssignmentBuilder makes of them.

    `present` are those that were there before the request, in the order of the group's own table; `updated` is the
    member that asks, new or not; `replaced` the static member whose place it takes.
    """
    puts = [member_id for member_id in present if member_id != replaced]
    if updated not in puts:
        puts.append(updated)
    return new_hash_map_order(puts)


def subscribed_order(names: Sequence[str], found: Sequence[str] = ()) -> list[str]:
    """The topics that a member wants, by name or found by its regex, in the order of Kafka's UnionSet of both."""
    by_name, by_regex = topic_name_order(names), topic_name_order(found)
    large, small = (by_name, by_regex) if len(by_name) > len(by_regex) else (by_regex, by_name)
    return list(dict.fromkeys([*large, *small]))


def topic_name_order(names: Sequence[str]) -> list[str]:
    """The topics of a subscription, or of a resolved regex, in Kafka's order once they were read in the given one.

    A record has them sorted, a request as its client pleased: names that share a bucket stay in that order.
    """
    order = hash_map_order(names, string_spot, table_size_of_copy(len(names)))
    return list(dict.fromkeys(order))
