"""The literals are what Kafka 4.4.0's own Utils.computeTopicHash and computeGroupHash give."""

from __future__ import annotations

import pytest

from group_coordinator.core.model.requests import Topic
from group_coordinator.core.topics import group_hash, topic_hash

ORDERS = Topic("orders", "AAAAAAAAAAAAAAAAAAAAAQ", 3)
PAYMENTS = Topic("payments", "c2nAXFjfRr-p6QYAQ-d2bw", 1)
WITH_RACKS = Topic("orders", "AAAAAAAAAAAAAAAAAAAAAQ", 2, (("r2", "r1"), ("r3", "r3")))
BIG = Topic("big", "AAAAAAAAAAAAAAAAAAAAAw", 100)
BEYOND_ASCII = Topic("😀é", "AAAAAAAAAAAAAAAAAAAABA", 1, (("😀", "\uff5e"),))


@pytest.mark.parametrize(
    ("topic", "hashed"),
    [
        (ORDERS, -2084488436095635715),
        (PAYMENTS, -3159519748779165113),
        (WITH_RACKS, 8139849920997889910),
        (BIG, -2381308324811598182),
        (BEYOND_ASCII, 7938993611571590732),
    ],
)
def test_hash_of_a_topic_is_kafkas(topic: Topic, hashed: int) -> None:
    assert topic_hash(topic) == hashed


def test_racks_have_no_order_but_count_each() -> None:
    turned = WITH_RACKS.replace(racks=(("r1", "r2"), ("r3", "r3")))
    fewer = WITH_RACKS.replace(racks=(("r1", "r2"), ("r3",)))
    assert topic_hash(turned) == topic_hash(WITH_RACKS)
    assert topic_hash(fewer) != topic_hash(WITH_RACKS)


def test_partitions_that_nobody_told_racks_of_have_none() -> None:
    first_only = WITH_RACKS.replace(racks=(("r1",),))
    both = WITH_RACKS.replace(racks=(("r1",), ()))
    assert topic_hash(first_only) == topic_hash(both)


def test_hash_of_a_group_goes_by_the_names_of_its_topics() -> None:
    hashes = {topic.name: topic_hash(topic) for topic in (PAYMENTS, ORDERS)}
    assert group_hash(hashes) == 5431191125210941538
    # In Java's order of strings a surrogate pair comes before the last characters of the first plane.
    hashes |= {"😀": topic_hash(BEYOND_ASCII), "\uff5e": topic_hash(BIG)}
    assert group_hash(hashes) == 5196836464696657285


def test_a_group_without_topics_has_the_hash_0() -> None:
    assert group_hash({}) == 0
    assert group_hash({"orders": topic_hash(ORDERS)}) == -2718304761464552938
