"""Requests that come together are searched together. Here "orders" is the coordinator's own topic."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from group_coordinator.codecs import wire
from group_coordinator.gateway.connections.produce_request import TopicSearch
from group_coordinator.gateway.rights.own_topics import Closed, OwnTopics

ORDERS_ID = "AAAAAAAAAAAAAAAAAAAAAg"
OTHER_ID = "AAAAAAAAAAAAAAAAAAAAAw"
TOPICS = SimpleNamespace(id_of={"orders": ORDERS_ID}.get)
SHOWN_AT_ONCE = 8 * 1024


def search(principal: str = "User:alice") -> TopicSearch:
    closed = Closed(frozenset({"orders"}), frozenset({"User:job"}))
    return TopicSearch(OwnTopics(closed, TOPICS), SimpleNamespace(principal=principal))  # type: ignore[arg-type]


def fetch(topic: str, count: int = 1) -> bytes:
    topics = [{"topic": topic, "partitions": [{"partition": 0}] * count}]
    return wire.request("Fetch", 12, 0, "c", {"topics": topics})


def clear_ones(searched: TopicSearch, requests: list[bytes], missing_bytes: int = 0) -> list[bool]:
    """Which of requests that came together are clear; of the last one some bytes are still to come."""
    data = memoryview(b"".join(requests))[: sum(map(len, requests)) - missing_bytes]
    found, at = [], 0
    for request in requests:
        found.append(searched.is_clear(data, at, len(request) - 4))
        at += len(request)
    return found


@pytest.mark.parametrize("place", [0, 1, 2, 80, 119, 120, 121, 150, 299])
def test_the_one_request_that_names_a_topic_is_found_among_many(place: int) -> None:
    requests = [fetch("parcels")] * 300
    requests[place] = fetch("orders")

    assert len(requests[0]) * 121 > SHOWN_AT_ONCE
    assert clear_ones(search(), requests) == [at != place for at in range(300)]


def test_what_was_clear_says_nothing_of_what_comes_next() -> None:
    searched = search()

    assert clear_ones(searched, [fetch("parcels")] * 2) == [True, True]
    assert clear_ones(searched, [fetch("orders"), fetch("parcels")]) == [False, True]
    assert clear_ones(searched, [fetch("parcels")]) == [True]


def test_an_id_is_as_good_as_a_name() -> None:
    by_id = [
        wire.request("Fetch", 13, 0, "c", {"topics": [{"topicId": each, "partitions": []}]})
        for each in (ORDERS_ID, OTHER_ID)
    ]

    assert clear_ones(search(), by_id) == [False, True]


def test_long_requests_and_those_that_are_not_whole_are_searched_later() -> None:
    requests = [fetch("parcels"), fetch("parcels", count=400), fetch("parcels")]

    assert clear_ones(search(), requests, missing_bytes=1) == [True, False, False]


def test_who_may_use_the_topics_is_not_searched() -> None:
    requests = [fetch("orders"), fetch("orders", count=400)]

    assert clear_ones(search("User:job"), requests, missing_bytes=1) == [True, True]
