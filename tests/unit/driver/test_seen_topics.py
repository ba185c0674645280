from __future__ import annotations

from collections.abc import Collection

from group_coordinator.clients.cluster.topics import VisibleTopics
from group_coordinator.core.model.requests import Topic
from group_coordinator.driver.tasks.topic_subscriptions import Difference, SeenTopics

ORDERS = Topic("orders", "AAAAAAAAAAAAAAAAAAAAAQ", 3)
GROWN = ORDERS.replace(num_partitions=4)
PAY = Topic("pay", "AAAAAAAAAAAAAAAAAAAAAg", 1)
NOTHING = Difference(set(), set(), set())


def by_name(*topics: Topic) -> dict[str, Topic]:
    return {topic.name: topic for topic in topics}


def look(*topics: Topic, hidden: Collection[str] = ()) -> VisibleTopics:
    return VisibleTopics(by_name(*topics), frozenset(hidden))


def test_a_look_says_what_is_new_and_what_has_changed() -> None:
    seen = SeenTopics()
    assert seen.take(None, look(ORDERS)) == Difference({"orders"}, set(), set())
    assert seen.take({"pay"}, look(PAY)) == Difference({"pay"}, set(), set())
    assert seen.take(None, look(GROWN, PAY.replace())) == Difference(set(), {"orders"}, set())
    assert seen.topics == by_name(GROWN, PAY)
    assert seen.topics["pay"] is PAY


def test_a_topic_is_gone_when_two_looks_that_asked_for_it_missed_it() -> None:
    seen = SeenTopics()
    seen.take(None, look(ORDERS, PAY))
    assert seen.take(None, look(PAY)) == NOTHING
    assert seen.take({"pay"}, look(PAY)) == NOTHING
    assert seen.topics == by_name(ORDERS, PAY)
    assert seen.take({"orders"}, look()) == Difference(set(), set(), {"orders"})
    assert seen.topics == by_name(PAY)


def test_a_topic_that_is_seen_again_is_missed_anew() -> None:
    seen = SeenTopics()
    seen.take(None, look(ORDERS))
    for found in (look(), look(ORDERS), look()):
        assert seen.take(None, found) == NOTHING


def test_what_nobody_wants_is_forgotten() -> None:
    seen = SeenTopics()
    seen.take(None, look(ORDERS, PAY))
    seen.take(None, look(PAY))

    seen.forget_all_but({"pay"})

    assert seen.take(None, look(PAY)) == NOTHING
    assert seen.topics == by_name(PAY)


def test_what_may_not_be_seen_any_more_stays_as_it_was() -> None:
    seen = SeenTopics()
    seen.take(None, look(ORDERS, PAY))
    for _ in range(3):
        assert seen.take(None, look(PAY, hidden=["orders"])) == NOTHING
    assert seen.topics == by_name(ORDERS, PAY)
    assert seen.hidden == {"orders"}

    assert seen.take({"orders"}, look(GROWN)) == Difference(set(), {"orders"}, set())
    assert seen.hidden == set()

    seen.take({"orders"}, look(hidden=["orders"]))
    assert seen.take({"orders"}, look()) == NOTHING
    assert seen.take({"orders"}, look()) == Difference(set(), set(), {"orders"})
