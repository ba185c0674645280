from __future__ import annotations

from group_coordinator.core.model.topic import Topic
from group_coordinator.job.seen_topics import Difference, SeenTopics

ORDERS = Topic("orders", "AAAAAAAAAAAAAAAAAAAAAQ", 3)
GROWN = ORDERS.replace(num_partitions=4)
PAY = Topic("pay", "AAAAAAAAAAAAAAAAAAAAAg", 1)
NOTHING = Difference(set(), set(), set())


def by_name(*topics: Topic) -> dict[str, Topic]:
    return {topic.name: topic for topic in topics}


def test_a_look_says_what_is_new_and_what_has_changed() -> None:
    seen = SeenTopics()
    assert seen.take(None, by_name(ORDERS)) == Difference({"orders"}, set(), set())
    assert seen.take({"pay"}, by_name(PAY)) == Difference({"pay"}, set(), set())
    assert seen.take(None, by_name(GROWN, PAY.replace())) == Difference(set(), {"orders"}, set())
    assert seen.topics == by_name(GROWN, PAY)
    assert seen.topics["pay"] is PAY


def test_a_topic_is_gone_when_two_looks_that_asked_for_it_missed_it() -> None:
    seen = SeenTopics()
    seen.take(None, by_name(ORDERS, PAY))
    assert seen.take(None, by_name(PAY)) == NOTHING
    assert seen.take({"pay"}, by_name(PAY)) == NOTHING
    assert seen.topics == by_name(ORDERS, PAY)
    assert seen.take({"orders"}, {}) == Difference(set(), set(), {"orders"})
    assert seen.topics == by_name(PAY)


def test_a_topic_that_is_seen_again_is_missed_anew() -> None:
    seen = SeenTopics()
    seen.take(None, by_name(ORDERS))
    for found in ({}, by_name(ORDERS), {}):
        assert seen.take(None, found) == NOTHING


def test_what_nobody_wants_is_forgotten() -> None:
    seen = SeenTopics()
    seen.take(None, by_name(ORDERS, PAY))
    seen.take(None, by_name(PAY))

    seen.forget_all_but({"pay"})

    assert seen.take(None, by_name(PAY)) == NOTHING
    assert seen.topics == by_name(PAY)
