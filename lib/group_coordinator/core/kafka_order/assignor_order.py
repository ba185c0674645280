"""The order of members and topics in Kafka's assignors, and of the members of a group.

It decides the leader of a group after a downgrade, and the order of timers of the same millisecond.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from group_coordinator.core.kafka_order.java_tables import (
    hash_map_buckets,
    hash_map_order,
    new_hash_map_order,
    string_hashes,
    string_spot,
    table_size_of_copy,
    timeline_order,
    timeline_slots,
)

MemberOrder: TypeAlias = Callable[[Iterable[str], str, str | None], list[str]]


def member_order(
    present: Iterable[str], updated: str, replaced: str | None = None, *, room: int = 0
) -> list[str]:
    """Return the members of a group in the order of the table that TargetAssignmentBuilder makes of them.

    `present` has the members before the request, in the order in which they joined. `updated` is the member that sent the
    request, new or not. `replaced` is the static member that it replaces. `room` is the group's member_room, if it was larger
    before.
    """
    ids = [*present, updated]
    hashes = string_hashes(ids)
    # As in timeline_order; the hashes are needed again.
    slots = timeline_slots(hashes, max(room, len(ids)))
    newest_first = range(len(ids) - 1)[::-1]
    places = sorted(newest_first, key=slots.__getitem__)
    return _order_once_put(places, ids, hashes, replaced)


def upgraded_member_order(
    present: Iterable[str], updated: str, replaced: str | None = None
) -> list[str]:
    """Return the same order if `present` is in the order of the group's own table, as in an upgrade."""
    ids = [*present, updated]
    return _order_once_put(range(len(ids) - 1), ids, string_hashes(ids), replaced)


def _order_once_put(
    present: Iterable[int], ids: Sequence[str], hashes: Sequence[int], replaced: str | None
) -> list[str]:
    # Members are numbers of places in `ids`; the last is the sender of the request.
    puts = [*present]
    if replaced is not None:
        puts = [place for place in puts if ids[place] != replaced]
    newest = len(ids) - 1
    # A known member keeps its place; a new member is put last.
    if ids.index(ids[newest]) == newest:
        puts.append(newest)
    buckets = hash_map_buckets(hashes, len(puts))
    return [ids[place] for place in sorted(puts, key=buckets.__getitem__)]


def subscribed_order(names: Sequence[str], found: Sequence[str] = ()) -> list[str]:
    """Return a member's topics, by name or by its regex, in the order of Kafka's UnionSet of both."""
    by_name, by_regex = topic_name_order(names), topic_name_order(found)
    large, small = (by_name, by_regex) if len(by_name) > len(by_regex) else (by_regex, by_name)
    return list(dict.fromkeys([*large, *small]))


def topic_name_order(names: Sequence[str]) -> list[str]:
    """Return the topics of a subscription, or of a resolved regex, in the order of Kafka's set.

    A record has the names sorted, a request in the client's order: names that share a bucket stay in that order.
    """
    order = hash_map_order(names, string_spot, table_size_of_copy(len(names)))
    return list(dict.fromkeys(order))


def consumer_group_order(member_ids: Iterable[str], room: int) -> list[str]:
    """Return the members of a consumer group. They joined in the given order; `room` is its member_room."""
    return timeline_order(member_ids, room)


def upgraded_group_order(member_ids: Iterable[str]) -> list[str]:
    """Return the members of a classic group in the order that the request which upgrades the group sees."""
    return timeline_order(member_ids)


def classic_group_order(member_ids: Sequence[str]) -> list[str]:
    """Return the members of a classic group, which joined in the given order."""
    return new_hash_map_order(member_ids)
