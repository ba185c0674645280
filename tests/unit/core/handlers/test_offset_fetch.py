from __future__ import annotations

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import Topic
from group_coordinator.core.model.responses import (
    FetchedPartition,
    FetchedTopic,
    OffsetFetchResponse,
)
from group_coordinator.testing import GroupDriver
from tests.unit.core import requests
from tests.unit.core.requests import at_offset, committed_offset

ORDERS = Topic("orders", "4ksO1bcLSgCStYJnTlCVLg", 2)
ORDERS_ANEW = Topic("orders", "AAAAAAAAAAAAAAAAAAAAAQ", 2)


def test_a_committed_offset_is_fetched_with_all_that_was_said() -> None:
    driver = GroupDriver()
    driver.send(requests.commit(at_offset(42, leader_epoch=5, metadata="note")), 8)

    outcome = driver.fetch({"orders": [0]})

    offset = FetchedPartition(0, 42, 5, "note")
    assert outcome.response == OffsetFetchResponse(
        ErrorCode.NONE, "g", (FetchedTopic("orders", None, (offset,)),)
    )
    assert outcome.records == ()


def test_what_was_never_committed_is_no_error() -> None:
    driver = GroupDriver()
    driver.commit({"orders": {0: 42}})

    assert driver.fetch({"orders": [1], "nowhere": [0]}).response.topics == (
        FetchedTopic("orders", None, (FetchedPartition(1),)),
        FetchedTopic("nowhere", None, (FetchedPartition(0),)),
    )


def test_everything_comes_in_order() -> None:
    driver = GroupDriver()
    driver.commit({"refunds": {0: 1}, "orders": {10: 2, 9: 3}})

    assert driver.fetch().response.topics == (
        FetchedTopic("orders", None, (FetchedPartition(9, 3), FetchedPartition(10, 2))),
        FetchedTopic("refunds", None, (FetchedPartition(0, 1),)),
    )


def test_everything_comes_under_the_ids_of_its_commits() -> None:
    driver = GroupDriver()
    driver.learn_topics(ORDERS)
    driver.commit({"orders": {0: 42}})
    driver.learn_topics(ORDERS_ANEW)

    (topic,) = driver.fetch(version=10).response.topics
    assert topic.topic_id == ORDERS.topic_id


def test_an_offset_of_an_earlier_topic_of_that_name_does_not_count() -> None:
    driver = GroupDriver()
    driver.learn_topics(ORDERS)
    driver.commit({"orders": {0: 42}})
    driver.learn_topics(ORDERS_ANEW)

    outcome = driver.send(requests.fetch_by_id(ORDERS_ANEW.topic_id, 0), 10)

    assert outcome.response.topics == (
        FetchedTopic("orders", ORDERS_ANEW.topic_id, (FetchedPartition(0),)),
    )


def test_an_offset_from_before_the_ids_counts() -> None:
    driver = GroupDriver()
    driver.commit({"orders": {0: 42}})
    driver.learn_topics(ORDERS)

    outcome = driver.send(requests.fetch_by_id(ORDERS.topic_id, 0), 10)

    assert outcome.response.topics[0].partitions == (FetchedPartition(0, 42),)


def test_of_ids_of_one_name_that_of_the_first_partition_is_told_whenever_it_was_committed() -> None:
    driver = GroupDriver()
    driver.commit({"orders": {0: 42}})
    for partition, topic in ((64, ORDERS_ANEW), (1, ORDERS)):
        offset = committed_offset(7, commit_timestamp_ms=0, topic_id=topic.topic_id)
        driver.group.store_offset("orders", partition, offset)

    response = driver.response_to(driver.fetch(version=10))

    assert [topic.topic_id for topic in response.topics] == [ORDERS.topic_id]
