from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from group_coordinator.codecs import wire
from group_coordinator.codecs.fields import ZERO_UUID
from group_coordinator.codecs.wire import WireError
from group_coordinator.gateway.connections.produce_request import TopicSearch
from group_coordinator.gateway.rights.own_topics import Closed, OwnTopics, without_topics

APIS = [
    (api, version)
    for api in ("Metadata", "DescribeTopicPartitions")
    for version in wire.valid_versions(api)
]
BROKERS = [{"nodeId": 1, "host": "events", "port": 9092, "rack": rack} for rack in (None, "events")]
PARTITION = {"leaderId": 1, "replicaNodes": [1, 2], "isrNodes": [1], "offlineReplicas": [2]}


def topic(name: str, partitions: int) -> dict[str, Any]:
    numbered = [{**PARTITION, "partitionIndex": number} for number in range(partitions)]
    return {"name": name, "topicId": "4ksO1bcLSgCStYJnTlCVLg", "partitions": numbered}


@pytest.mark.parametrize(("api", "version"), APIS)
def test_every_version_is_cut_where_the_topic_begins_and_ends(api: str, version: int) -> None:
    names = ("events", "a", "events-archive", "responses", "more-events")
    topics = [topic(name, number) for number, name in enumerate(names)]
    body = {"brokers": BROKERS, "clusterId": "events", "controllerId": 1, "topics": topics}
    answer = wire.response(api, version, 7, body)
    instead = {"events": None, "responses": {"errorCode": 29, "name": "responses"}, "none": None}

    correlation_id, found = wire.response_body(
        api, version, without_topics(api, version, answer, instead)[4:]
    )

    _, whole = wire.response_body(api, version, answer[4:])
    denied, *others = found["topics"]
    assert correlation_id == 7
    assert (denied["name"], denied["errorCode"], denied["partitions"]) == ("responses", 29, [])
    assert denied.get("topicId", ZERO_UUID) == ZERO_UUID
    assert others == [whole["topics"][number] for number in (1, 2, 4)]
    assert {**found, "topics": []} == {**whole, "topics": []}


@pytest.mark.parametrize(("api", "version"), APIS)
@pytest.mark.parametrize("length", [44, 110, 121])
def test_a_name_inside_of_a_longer_one_is_none(api: str, version: int, length: int) -> None:
    """The byte that says how long such a name is, is a -, an o or a z at the same time."""
    own, size = "e" * length, chr(length + 1)
    names = [
        f"{size}{own}",
        f"a{size}{own}",
        own,
        f"{'a' * 80}{size}{own}",
        f"{own}{size}{own}",
        "z",
    ]
    body = {"topics": [topic(name, 1) for name in names]}

    answer = without_topics(api, version, wire.response(api, version, 7, body), {own: None})

    _, found = wire.response_body(api, version, answer[4:])
    assert [one["name"] for one in found["topics"]] == [name for name in names if name != own]


def test_an_answer_without_them_stays_as_it_is() -> None:
    answer = wire.response("Metadata", 12, 7, {"brokers": BROKERS, "topics": [topic("a", 200)]})

    assert without_topics("Metadata", 12, answer, {"events": None}) == answer


@pytest.mark.parametrize("left_bytes", [9, 20, 90])
def test_an_answer_that_ends_too_early(left_bytes: int) -> None:
    answer = wire.response("Metadata", 12, 7, {"brokers": BROKERS, "topics": [topic("events", 3)]})

    with pytest.raises(WireError, match=r"^(ResponseHeader v1|MetadataResponse v12): "):
        without_topics("Metadata", 12, answer[:left_bytes], {"events": None})


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
