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
    "a topic with few subscribers comes first": (
        {"A": member(ORDERS, CLICKS), "B": member(CLICKS)},
        topics(orders=3, clicks=6),
        {"A": {ORDERS: (0, 1, 2), CLICKS: (4,)}, "B": {CLICKS: (0, 1, 2, 3, 5)}},
    ),
    "more members than partitions": (
        {"A": member(CLICKS), "B": member(CLICKS), "C": member(ORDERS)},
        topics(clicks=1, orders=2),
        {"A": {CLICKS: (0,)}, "B": {}, "C": {ORDERS: (0, 1)}},
    ),
    "partitions run out": (
        {"A": member(CLICKS), "B": member(CLICKS), "C": member(PAYMENTS)},
        topics(clicks=2, payments=3),
        {"A": {CLICKS: (0,)}, "B": {CLICKS: (1,)}, "C": {PAYMENTS: (0, 1, 2)}},
    ),
    "partitions move until the members are balanced": (
        {
            "A": member(ORDERS, holds={ORDERS: (0, 1, 2)}),
            "B": member(ORDERS, PAYMENTS, holds={ORDERS: (3,), PAYMENTS: (0,)}),
            "C": member(
                ORDERS,
                PAYMENTS,
                CLICKS,
                holds={ORDERS: (4, 5), PAYMENTS: (1, 2, 3), CLICKS: (0, 1, 2, 3)},
            ),
        },
        topics(orders=6, payments=4, clicks=4),
        {
            "A": {ORDERS: (0, 1, 2, 5)},
            "B": {ORDERS: (3,), PAYMENTS: (0, 1, 2, 3)},
            "C": {ORDERS: (4,), CLICKS: (0, 1, 2, 3)},
        },
    ),
    "topics grow": (
        {
            "A": member(ORDERS, holds={ORDERS: (0, 1)}),
            "B": member(ORDERS, PAYMENTS, holds={PAYMENTS: (0, 1)}),
        },
        topics(orders=5, payments=4),
        {"A": {ORDERS: (0, 1, 2, 3, 4)}, "B": {PAYMENTS: (0, 1, 2, 3)}},
    ),
    "a member joins and topics grow": (
        {
            "A": member(ORDERS, holds={ORDERS: (0, 1, 2)}),
            "B": member(ORDERS, PAYMENTS, holds={PAYMENTS: (0, 1, 2)}),
            "C": member(PAYMENTS),
        },
        topics(orders=6, payments=7),
        {
            "A": {ORDERS: (0, 1, 2, 3, 5)},
            "B": {ORDERS: (4,), PAYMENTS: (0, 1, 2)},
            "C": {PAYMENTS: (3, 4, 5, 6)},
        },
    ),
    "a member leaves": (
        {
            "A": member(ORDERS, CLICKS, holds={ORDERS: (0, 1, 2), CLICKS: (0, 1)}),
            "B": member(PAYMENTS, holds={PAYMENTS: (3, 4, 5, 6)}),
        },
        topics(orders=3, payments=8, clicks=3),
        {"A": {ORDERS: (0, 1, 2), CLICKS: (0, 1, 2)}, "B": {PAYMENTS: (0, 1, 2, 3, 4, 5, 6, 7)}},
    ),
    "a member unsubscribes from a topic": (
        {
            "A": member(ORDERS, holds={ORDERS: (0, 1), PAYMENTS: (0, 3)}),
            "B": member(ORDERS, PAYMENTS, holds={ORDERS: (2,), PAYMENTS: (1, 2)}),
        },
        topics(orders=3, payments=4),
        {"A": {ORDERS: (0, 1, 2)}, "B": {PAYMENTS: (0, 1, 2, 3)}},
    ),
    "members that share only a part of their topics": (
        {
            "A": member(ORDERS, holds={ORDERS: tuple(range(12))}),
            "B": member(ORDERS, PAYMENTS),
            "C": member(PAYMENTS, holds={PAYMENTS: tuple(range(6))}),
        },
        topics(orders=12, payments=6),
        {
            "A": {ORDERS: (0, 1, 2, 3, 4, 5)},
            "B": {ORDERS: (6, 7, 8, 9, 10, 11)},
            "C": {PAYMENTS: (0, 1, 2, 3, 4, 5)},
        },
    ),
    "when nobody has a partition left to give the members stay unequal": (
        {
            "A": member(ORDERS, CLICKS, holds={CLICKS: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)}),
            "B": member(ORDERS, PAYMENTS, holds={ORDERS: (0,), PAYMENTS: (0, 1, 2, 3)}),
            "C": member(ORDERS),
        },
        topics(orders=1, payments=4, clicks=10),
        {
            "A": {CLICKS: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)},
            "B": {PAYMENTS: (0, 1, 2, 3)},
            "C": {ORDERS: (0,)},
        },
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


def test_topics_that_are_not_there() -> None:
    with pytest.raises(PartitionAssignorError, match="no such topic: unknown"):
        assign_uniformly({"A": member(ORDERS), "B": member(UNKNOWN)}, topics(orders=3))


def test_a_balanced_group_stays_as_it_is() -> None:
    members = {"A": member(ORDERS), "B": member(ORDERS, PAYMENTS), "C": member(PAYMENTS)}
    targets = assign_uniformly(members, topics(orders=7, payments=4))

    assert assign_uniformly(again(members, targets), topics(orders=7, payments=4)) == targets


def test_an_unknown_name_in_a_subscription_changes_who_gets_what() -> None:
    # Kafka tells by the names: a member that also wants an unknown topic wants something else.
    members = {"A": member(ORDERS), "B": member(ORDERS)}

    same = assign_uniformly(members, topics(orders=4), SubscriptionType.HOMOGENEOUS)
    different = assign_uniformly(members, topics(orders=4), SubscriptionType.HETEROGENEOUS)

    assert same == {"A": {ORDERS: (0, 1)}, "B": {ORDERS: (2, 3)}}
    assert different == {"A": {ORDERS: (0, 2)}, "B": {ORDERS: (1, 3)}}


def test_a_topic_has_fewer_partitions_than_its_members_hold() -> None:
    members = {"A": member(ORDERS, holds={ORDERS: (0, 1)}), "B": member()}

    with pytest.raises(PartitionAssignorError, match="has no partition 1"):
        assign_uniformly(members, topics(orders=1))
