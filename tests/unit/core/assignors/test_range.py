from __future__ import annotations

import pytest

from group_coordinator.core.assignors.range import assign_ranges
from group_coordinator.core.assignors.spec import (
    Assignment,
    MemberSpec,
    PartitionAssignorError,
    SubscriptionType,
    TopicSpec,
)
from tests.unit.core.assignors.groups import (
    CLICKS,
    ORDERS,
    PAYMENTS,
    UNKNOWN,
    again,
    member,
    topics,
)

CASES = {
    "the first members get what is over": (
        {"A": member(ORDERS, CLICKS), "B": member(ORDERS, CLICKS)},
        topics(orders=3, clicks=2),
        {"A": {ORDERS: (0, 1), CLICKS: (0,)}, "B": {ORDERS: (2,), CLICKS: (1,)}},
    ),
    "only subscribers share a topic": (
        {"A": member(ORDERS, PAYMENTS), "B": member(CLICKS), "C": member(PAYMENTS, CLICKS)},
        topics(orders=3, payments=3, clicks=2),
        {
            "A": {ORDERS: (0, 1, 2), PAYMENTS: (0, 1)},
            "B": {CLICKS: (0,)},
            "C": {PAYMENTS: (2,), CLICKS: (1,)},
        },
    ),
    "members stand in order of their ids however they came": (
        {"B": member(ORDERS), "b": member(ORDERS), "A": member(ORDERS)},
        topics(orders=3),
        {"A": {ORDERS: (0,)}, "B": {ORDERS: (1,)}, "b": {ORDERS: (2,)}},
    ),
    "static members stand in order of their instance ids": (
        {"A": member(ORDERS, instance="i-2"), "B": member(ORDERS, instance="i-1")},
        topics(orders=3),
        {"A": {ORDERS: (2,)}, "B": {ORDERS: (0, 1)}},
    ),
    "static members stand before dynamic ones": (
        {"A": member(ORDERS), "B": member(ORDERS, instance="i-1"), "C": member(ORDERS)},
        topics(orders=4),
        {"A": {ORDERS: (2,)}, "B": {ORDERS: (0, 1)}, "C": {ORDERS: (3,)}},
    ),
    "what members had before does not count": (
        {"A": member(ORDERS, holds={ORDERS: (1, 2)}), "B": member(ORDERS, holds={ORDERS: (0,)})},
        topics(orders=3),
        {"A": {ORDERS: (0, 1)}, "B": {ORDERS: (2,)}},
    ),
    "a member joins that nothing is left for": (
        {
            "A": member(ORDERS, holds={ORDERS: (0,)}),
            "B": member(ORDERS, holds={ORDERS: (1,)}),
            "C": member(ORDERS),
        },
        topics(orders=2),
        {"A": {ORDERS: (0,)}, "B": {ORDERS: (1,)}, "C": {}},
    ),
    "a topic grows": (
        {"A": member(ORDERS, holds={ORDERS: (0, 1)}), "B": member(ORDERS, holds={ORDERS: (2,)})},
        topics(orders=4),
        {"A": {ORDERS: (0, 1)}, "B": {ORDERS: (2, 3)}},
    ),
    "a member joins and a topic grows": (
        {
            "A": member(ORDERS, holds={ORDERS: (0, 1)}),
            "B": member(ORDERS, holds={ORDERS: (2,)}),
            "C": member(ORDERS),
        },
        topics(orders=4),
        {"A": {ORDERS: (0, 1)}, "B": {ORDERS: (2,)}, "C": {ORDERS: (3,)}},
    ),
    "subscriptions end": (
        {
            "A": member(ORDERS, holds={ORDERS: (0,), PAYMENTS: (0,)}),
            "B": member(PAYMENTS, holds={ORDERS: (1,), PAYMENTS: (1,)}),
            "C": member(PAYMENTS, holds={ORDERS: (2,), PAYMENTS: (2,)}),
        },
        topics(orders=3, payments=3),
        {"A": {ORDERS: (0, 1, 2)}, "B": {PAYMENTS: (0, 1)}, "C": {PAYMENTS: (2,)}},
    ),
    "more members than partitions": (
        {member_id: member(ORDERS, CLICKS) for member_id in "ABC"},
        topics(orders=3, clicks=2),
        {"A": {ORDERS: (0,), CLICKS: (0,)}, "B": {ORDERS: (1,), CLICKS: (1,)}, "C": {ORDERS: (2,)}},
    ),
    "a member leaves": (
        {"B": member(ORDERS, PAYMENTS, holds={ORDERS: (2,), PAYMENTS: (2,)})},
        topics(orders=3, payments=3),
        {"B": {ORDERS: (0, 1, 2), PAYMENTS: (0, 1, 2)}},
    ),
}
"""Members, topics, and the target of each member."""


@pytest.mark.parametrize(("members", "known", "expected"), CASES.values(), ids=CASES)
def test_who_gets_what(
    members: dict[str, MemberSpec],
    known: dict[str, TopicSpec],
    expected: dict[str, Assignment],
) -> None:
    assert assign_ranges(members, known) == expected


def test_an_empty_group() -> None:
    assert assign_ranges({}, topics(orders=3)) == {}


def test_a_topic_that_is_not_there() -> None:
    with pytest.raises(PartitionAssignorError, match="no such topic: unknown"):
        assign_ranges({"A": member(ORDERS, UNKNOWN)}, topics(orders=3))


def test_ids_are_compared_by_utf_16_units() -> None:
    # U+1F41F is D83D DC1F in UTF-16, so it comes before U+FF5E.
    members = {"\uff5e": member(ORDERS), "\U0001f41f": member(ORDERS)}

    assert assign_ranges(members, topics(orders=2)) == {
        "\U0001f41f": {ORDERS: (0,)},
        "\uff5e": {ORDERS: (1,)},
    }


def test_members_that_are_said_to_want_the_same_get_what_the_first_one_wants() -> None:
    members = {"B": member(CLICKS), "A": member(ORDERS)}

    found = assign_ranges(members, topics(orders=3, clicks=2), SubscriptionType.HOMOGENEOUS)

    assert found == {"A": {ORDERS: (0, 1)}, "B": {ORDERS: (2,)}}


def test_a_member_joins() -> None:
    members = {"A": member(ORDERS), "B": member(ORDERS)}
    before = assign_ranges(members, topics(orders=3))
    joined = again(members, before) | {"C": member(ORDERS)}

    assert before == {"A": {ORDERS: (0, 1)}, "B": {ORDERS: (2,)}}
    assert assign_ranges(joined, topics(orders=3)) == {
        "A": {ORDERS: (0,)},
        "B": {ORDERS: (1,)},
        "C": {ORDERS: (2,)},
    }
