from __future__ import annotations

import pytest

from group_coordinator.core.assignors.spec import (
    SubscriptionType,
    subscribers,
    subscription_type,
    type_by_topic_ids,
)
from tests.unit.core.assignors.groups import CLICKS, ORDERS, PAYMENTS, member, topics

SAME, DIFFERENT = SubscriptionType.HOMOGENEOUS, SubscriptionType.HETEROGENEOUS


@pytest.mark.parametrize(
    ("members", "by_name", "by_regex", "found", "kind"),
    [
        (0, {}, {}, [], SAME),
        (1, {}, {}, [], SAME),
        (2, {"a": 2}, {}, [], SAME),
        (2, {"a": 2, "b": 2}, {}, [], SAME),
        (2, {"a": 2, "unknown": 1}, {}, [], DIFFERENT),
        (2, {"a": 1}, {}, [], DIFFERENT),
        (2, {}, {"a.*": 2}, [["a", "aa"]], SAME),
        (2, {}, {"a.*": 2}, [], SAME),
        (2, {}, {"a.*": 1, "b.*": 1}, [["a"], ["b"]], DIFFERENT),
        (2, {}, {"a.*": 1}, [["a"]], DIFFERENT),
        (2, {"a": 1}, {"a.*": 1}, [["a"]], DIFFERENT),
        (2, {"a": 2}, {"a.*": 2}, [["a"]], DIFFERENT),
        (2, {"a": 2}, {}, [["a"]], SAME),
        (2, {"a": 2}, {}, [["a", "aa"]], DIFFERENT),
        (2, {}, {"a.*": 2}, [["a"], ["a"]], DIFFERENT),
    ],
)
def test_what_kafka_makes_of_subscriptions(
    members: int,
    by_name: dict[str, int],
    by_regex: dict[str, int],
    found: list[list[str]],
    kind: SubscriptionType,
) -> None:
    assert subscription_type(members, by_name, by_regex, found) is kind


def test_what_topic_ids_tell() -> None:
    assert type_by_topic_ids([member(ORDERS), member(ORDERS)]) is SAME
    assert type_by_topic_ids([member(ORDERS), member(CLICKS)]) is DIFFERENT
    assert type_by_topic_ids([]) is SAME


def test_subscribers_of_topics() -> None:
    wishes = [frozenset(wish) for wish in ([ORDERS], [ORDERS, PAYMENTS], [], [ORDERS])]

    found = subscribers(wishes, topics(payments=1, orders=1, clicks=1))

    assert found == {PAYMENTS: [1], ORDERS: [0, 1, 3]}
    assert list(found) == [PAYMENTS, ORDERS]
