from __future__ import annotations

import pytest

from group_coordinator.codecs.events import InvalidEventError
from group_coordinator.core.model.requests import Topic, TopicMetadata
from tests.unit.codecs.apis.messages import read

ORDERS_ID = "4ksO1bcLSgCStYJnTlCVLg"
OTHER_ID = "kR2Wz3XqTl6mQ0v9s8bEuA"
ZERO_ID = "AAAAAAAAAAAAAAAAAAAAAA"


def test_topics_that_a_group_is_told_of() -> None:
    known = {
        "name": "orders",
        "topicId": ORDERS_ID,
        "numPartitions": 3,
        "racks": [["b", "a"], [], ["b"]],
    }
    gone = {"name": "payments", "topicId": ZERO_ID}
    body = {"groupId": "g", "topics": [known], "deletedTopics": [gone]}

    topics = (Topic("orders", ORDERS_ID, 3, (("a", "b"), (), ("b",))),)
    expected = TopicMetadata("g", topics, (("payments", ZERO_ID),))
    assert read("TopicMetadata", 0, body) == expected


@pytest.mark.parametrize(
    ("topics", "complaint"),
    [
        (
            [("orders", ORDERS_ID, 1), ("orders", OTHER_ID, 1)],
            "topics.name = orders: appears twice",
        ),
        (
            [("orders", ORDERS_ID, 1), ("clicks", ORDERS_ID, 1)],
            f"topics.topicId = {ORDERS_ID}: appears twice",
        ),
        ([("orders", "A" * 22, 1)], "topics.topicId = A{22}: stands for no topic"),
        ([("orders", ORDERS_ID, 0)], r"topics\[0\].numPartitions = 0"),
        ([("orders", ORDERS_ID, 1_000_001)], r"topics.numPartitions = 1000001 together"),
        ([("orders", ORDERS_ID + "\n", 1)], r"topics\[0\].topicId = "),
    ],
)
def test_topics_that_cannot_be(topics: list[tuple[str, str, int]], complaint: str) -> None:
    given = [dict(zip(("name", "topicId", "numPartitions"), t, strict=True)) for t in topics]
    with pytest.raises(InvalidEventError, match=complaint):
        read("TopicMetadata", 0, {"groupId": "g", "topics": given})


def test_the_most_partitions_of_a_topic() -> None:
    given = [{"name": "orders", "topicId": ORDERS_ID, "numPartitions": 1_000_000}]

    read("TopicMetadata", 0, {"groupId": "g", "topics": given})
