from __future__ import annotations

from typing import Any

import pytest

from group_coordinator.codecs import wire
from group_coordinator.codecs.fields import ZERO_UUID
from group_coordinator.codecs.wire import WireError
from group_coordinator.gateway.rights.own_topics import without_topics

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
