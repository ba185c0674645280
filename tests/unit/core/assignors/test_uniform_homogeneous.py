from __future__ import annotations

import pytest

from group_coordinator.core.assignors.spec import (
    Assignment,
    MemberSpec,
    PartitionAssignorError,
    SubscriptionType,
    TopicSpec,
)
from group_coordinator.core.assignors.uniform import assign_uniformly
from tests.unit.core.assignors.groups import CLICKS, ORDERS, PAYMENTS, UNKNOWN, member, topics

CASES = {
    # An odd partition goes to the last member that has space.
    "members are filled one after the other": (
        {"A": member(ORDERS, PAYMENTS), "B": member(ORDERS, PAYMENTS)},
        topics(orders=3, payments=2),
        {"A": {ORDERS: (0, 1)}, "B": {ORDERS: (2,), PAYMENTS: (0, 1)}},
    ),
    "more members than partitions": (
        {member_id: member(CLICKS) for member_id in "ABC"},
        topics(clicks=2),
        {"A": {}, "B": {CLICKS: (0,)}, "C": {CLICKS: (1,)}},
    ),
    "too many partitions are taken from a member": (
        {
            "A": member(ORDERS, PAYMENTS, holds={ORDERS: (0, 1), PAYMENTS: (0, 1)}),
            "B": member(ORDERS, PAYMENTS, holds={ORDERS: (2,), PAYMENTS: (2,)}),
        },
        topics(orders=3, payments=3),
        {"A": {ORDERS: (0, 1), PAYMENTS: (0,)}, "B": {ORDERS: (2,), PAYMENTS: (1, 2)}},
    ),
    "topics grow": (
        {
            "A": member(ORDERS, PAYMENTS, holds={ORDERS: (0, 2), PAYMENTS: (0,)}),
            "B": member(ORDERS, PAYMENTS, holds={ORDERS: (1,), PAYMENTS: (1, 2)}),
        },
        topics(orders=6, payments=5),
        {
            "A": {ORDERS: (0, 2, 3, 4), PAYMENTS: (0,)},
            "B": {ORDERS: (1, 5), PAYMENTS: (1, 2, 3, 4)},
        },
    ),
    "a member joins": (
        {
            "A": member(ORDERS, PAYMENTS, holds={ORDERS: (0, 2), PAYMENTS: (0,)}),
            "B": member(ORDERS, PAYMENTS, holds={ORDERS: (1,), PAYMENTS: (1, 2)}),
            "C": member(ORDERS, PAYMENTS),
        },
        topics(orders=3, payments=3),
        {"A": {ORDERS: (0, 2)}, "B": {ORDERS: (1,), PAYMENTS: (1,)}, "C": {PAYMENTS: (0, 2)}},
    ),
    "a member leaves": (
        {
            "A": member(ORDERS, PAYMENTS, holds={ORDERS: (0,), PAYMENTS: (0,)}),
            "B": member(ORDERS, PAYMENTS, holds={ORDERS: (1,), PAYMENTS: (1,)}),
        },
        topics(orders=3, payments=3),
        {"A": {ORDERS: (0, 2), PAYMENTS: (0,)}, "B": {ORDERS: (1,), PAYMENTS: (1, 2)}},
    ),
    "all unsubscribe from a topic": (
        {
            "A": member(PAYMENTS, holds={ORDERS: (0, 1), PAYMENTS: (0,)}),
            "B": member(PAYMENTS, holds={ORDERS: (2,), PAYMENTS: (1, 2)}),
        },
        topics(orders=3, payments=3),
        {"A": {PAYMENTS: (0,)}, "B": {PAYMENTS: (1, 2)}},
    ),
    "who holds one more already keeps it": (
        {
            "A": member(ORDERS, PAYMENTS),
            "B": member(ORDERS, PAYMENTS, holds={ORDERS: (0, 1), PAYMENTS: (0,)}),
        },
        topics(orders=3, payments=2),
        {"A": {ORDERS: (2,), PAYMENTS: (1,)}, "B": {ORDERS: (0, 1), PAYMENTS: (0,)}},
    ),
    "the order of the members breaks ties": (
        {"B": member(ORDERS), "A": member(ORDERS)},
        topics(orders=2),
        {"B": {ORDERS: (0,)}, "A": {ORDERS: (1,)}},
    ),
}
"""Members, topics, and the target of each member."""


@pytest.mark.parametrize(("members", "known", "expected"), CASES.values(), ids=CASES)
def test_who_gets_what(
    members: dict[str, MemberSpec],
    known: dict[str, TopicSpec],
    expected: dict[str, Assignment],
) -> None:
    assert assign_uniformly(members, known) == expected


def test_an_empty_group() -> None:
    assert assign_uniformly({}, topics(orders=3)) == {}


def test_a_topic_that_is_not_there() -> None:
    with pytest.raises(PartitionAssignorError, match="no such topic: unknown"):
        assign_uniformly({"A": member(UNKNOWN)}, topics(orders=3))


def test_of_a_wide_topic_those_stay_that_come_first_in_a_set_of_16_buckets() -> None:
    members = {"A": member(ORDERS, holds={ORDERS: tuple(range(10, 20))}), "B": member(ORDERS)}

    # In a java.util.HashSet 16 to 19 stand before 10 to 15.
    found = assign_uniformly(members, topics(orders=20))

    assert found["A"] == {ORDERS: (10, 11, 12, 13, 14, 15, 16, 17, 18, 19)}
    assert assign_uniformly(members | {"C": member(ORDERS)}, topics(orders=20))["A"] == {
        ORDERS: (10, 11, 12, 16, 17, 18, 19)
    }


def test_a_topic_has_fewer_partitions_than_its_members_hold() -> None:
    members = {"A": member(ORDERS, holds={ORDERS: (0, 1)}), "B": member(ORDERS)}

    with pytest.raises(PartitionAssignorError, match="left unassigned"):
        assign_uniformly(members, topics(orders=1), SubscriptionType.HOMOGENEOUS)


def test_members_that_are_said_to_want_the_same_get_what_the_first_one_wants() -> None:
    members = {"B": member(CLICKS, holds={CLICKS: (0,)}), "A": member(ORDERS)}

    found = assign_uniformly(members, topics(orders=3, clicks=2), SubscriptionType.HOMOGENEOUS)

    assert found == {"B": {CLICKS: (0,)}, "A": {CLICKS: (1,)}}
