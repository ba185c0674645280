from __future__ import annotations

import pytest

from group_coordinator.core.assignors.spec import PartitionAssignorError, SubscriptionType
from group_coordinator.core.assignors.uniform import assign_uniformly
from tests.unit.core.assignors.groups import CLICKS, ORDERS, PAYMENTS, UNKNOWN, member, topics


def test_an_empty_group() -> None:
    assert assign_uniformly({}, topics(orders=3)) == {}


def test_a_topic_that_is_not_there() -> None:
    with pytest.raises(PartitionAssignorError, match="no such topic: unknown"):
        assign_uniformly({"A": member(UNKNOWN)}, topics(orders=3))


def test_members_are_filled_one_after_the_other() -> None:
    members = {"A": member(ORDERS, PAYMENTS), "B": member(ORDERS, PAYMENTS)}

    # An odd partition goes to the last member that has space.
    assert assign_uniformly(members, topics(orders=3, payments=2)) == {
        "A": {ORDERS: (0, 1)},
        "B": {ORDERS: (2,), PAYMENTS: (0, 1)},
    }


def test_more_members_than_partitions() -> None:
    members = {member_id: member(CLICKS) for member_id in "ABC"}

    assert assign_uniformly(members, topics(clicks=2)) == {
        "A": {},
        "B": {CLICKS: (0,)},
        "C": {CLICKS: (1,)},
    }


def test_too_many_partitions_are_taken_from_a_member() -> None:
    members = {
        "A": member(ORDERS, PAYMENTS, holds={ORDERS: (0, 1), PAYMENTS: (0, 1)}),
        "B": member(ORDERS, PAYMENTS, holds={ORDERS: (2,), PAYMENTS: (2,)}),
    }

    assert assign_uniformly(members, topics(orders=3, payments=3)) == {
        "A": {ORDERS: (0, 1), PAYMENTS: (0,)},
        "B": {ORDERS: (2,), PAYMENTS: (1, 2)},
    }


def test_topics_grow() -> None:
    members = {
        "A": member(ORDERS, PAYMENTS, holds={ORDERS: (0, 2), PAYMENTS: (0,)}),
        "B": member(ORDERS, PAYMENTS, holds={ORDERS: (1,), PAYMENTS: (1, 2)}),
    }

    assert assign_uniformly(members, topics(orders=6, payments=5)) == {
        "A": {ORDERS: (0, 2, 3, 4), PAYMENTS: (0,)},
        "B": {ORDERS: (1, 5), PAYMENTS: (1, 2, 3, 4)},
    }


def test_a_member_joins() -> None:
    members = {
        "A": member(ORDERS, PAYMENTS, holds={ORDERS: (0, 2), PAYMENTS: (0,)}),
        "B": member(ORDERS, PAYMENTS, holds={ORDERS: (1,), PAYMENTS: (1, 2)}),
        "C": member(ORDERS, PAYMENTS),
    }

    assert assign_uniformly(members, topics(orders=3, payments=3)) == {
        "A": {ORDERS: (0, 2)},
        "B": {ORDERS: (1,), PAYMENTS: (1,)},
        "C": {PAYMENTS: (0, 2)},
    }


def test_a_member_leaves() -> None:
    members = {
        "A": member(ORDERS, PAYMENTS, holds={ORDERS: (0,), PAYMENTS: (0,)}),
        "B": member(ORDERS, PAYMENTS, holds={ORDERS: (1,), PAYMENTS: (1,)}),
    }

    assert assign_uniformly(members, topics(orders=3, payments=3)) == {
        "A": {ORDERS: (0, 2), PAYMENTS: (0,)},
        "B": {ORDERS: (1,), PAYMENTS: (1, 2)},
    }


def test_all_unsubscribe_from_a_topic() -> None:
    members = {
        "A": member(PAYMENTS, holds={ORDERS: (0, 1), PAYMENTS: (0,)}),
        "B": member(PAYMENTS, holds={ORDERS: (2,), PAYMENTS: (1, 2)}),
    }

    assert assign_uniformly(members, topics(orders=3, payments=3)) == {
        "A": {PAYMENTS: (0,)},
        "B": {PAYMENTS: (1, 2)},
    }


def test_who_holds_one_more_already_keeps_it() -> None:
    members = {
        "A": member(ORDERS, PAYMENTS),
        "B": member(ORDERS, PAYMENTS, holds={ORDERS: (0, 1), PAYMENTS: (0,)}),
    }

    assert assign_uniformly(members, topics(orders=3, payments=2)) == {
        "A": {ORDERS: (2,), PAYMENTS: (1,)},
        "B": {ORDERS: (0, 1), PAYMENTS: (0,)},
    }


def test_the_order_of_the_members_breaks_ties() -> None:
    members = {"B": member(ORDERS), "A": member(ORDERS)}

    assert assign_uniformly(members, topics(orders=2)) == {"B": {ORDERS: (0,)}, "A": {ORDERS: (1,)}}


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
