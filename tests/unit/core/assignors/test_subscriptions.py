from __future__ import annotations

from collections.abc import Collection

import pytest

from group_coordinator.core.assignors.spec import SubscriptionType
from group_coordinator.core.assignors.subscriptions import (
    subscribers,
    subscription_type,
    type_told_by_topic_ids,
)
from tests.unit.core.assignors.groups import CLICKS, ORDERS, PAYMENTS, member, topics

SAME, DIFFERENT = SubscriptionType.HOMOGENEOUS, SubscriptionType.HETEROGENEOUS


@pytest.mark.parametrize(
    ("wishes", "kind"),
    [
        ([], SAME),
        ([((), None)], SAME),
        ([(["a"], None), (["a"], None)], SAME),
        ([(["a", "b"], None), (["b", "a"], "")], SAME),
        ([(["a"], None), (["a", "unknown"], None)], DIFFERENT),
        ([(["a"], None), ((), None)], DIFFERENT),
        ([((), "a.*"), ((), "a.*")], SAME),
        ([((), "a.*"), ((), "b.*")], DIFFERENT),
        ([((), "a.*"), (["a"], None)], DIFFERENT),
        ([(["a"], "a.*"), (["a"], "a.*")], DIFFERENT),
    ],
)
def test_what_kafka_makes_of_wishes(
    wishes: list[tuple[Collection[str], str | None]], kind: SubscriptionType
) -> None:
    assert subscription_type(wishes) is kind


def test_what_topic_ids_tell() -> None:
    assert type_told_by_topic_ids([member(ORDERS), member(ORDERS)]) is SAME
    assert type_told_by_topic_ids([member(ORDERS), member(CLICKS)]) is DIFFERENT
    assert type_told_by_topic_ids([]) is SAME


def test_subscribers_of_topics() -> None:
    members = [member(ORDERS), member(ORDERS, PAYMENTS), member(), member(ORDERS)]

    found = subscribers(members, topics(payments=1, orders=1, clicks=1))

    assert found == {PAYMENTS: [1], ORDERS: [0, 1, 3]}
    assert list(found) == [PAYMENTS, ORDERS]
