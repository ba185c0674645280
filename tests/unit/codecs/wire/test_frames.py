from __future__ import annotations

from typing import Any

import pytest

from group_coordinator.codecs import wire
from group_coordinator.codecs.wire import RequestHeader, WireError

HEARTBEAT = {"groupId": "g", "generationId": 3, "memberId": "m"}


def test_a_request_before_flexible_versions() -> None:
    frame = wire.request("Heartbeat", 0, 7, "me", HEARTBEAT)

    assert frame == (
        b"\x00\x00\x00\x16"  # size
        b"\x00\x0c\x00\x00\x00\x00\x00\x07"  # api key, version, correlation id
        b"\x00\x02me"
        b"\x00\x01g\x00\x00\x00\x03\x00\x01m"
    )
    assert wire.request_header(frame[4:]) == RequestHeader(12, 0, 7, "me", body_at=12)


def test_a_flexible_request_keeps_the_old_length_of_the_client_id() -> None:
    frame = wire.request("Heartbeat", 4, -1, "me", HEARTBEAT)

    assert frame == (
        b"\x00\x00\x00\x17"
        b"\x00\x0c\x00\x04\xff\xff\xff\xff"
        b"\x00\x02me"
        b"\x00"  # no tagged fields
        b"\x02g\x00\x00\x00\x03\x02m\x00\x00"
    )
    header = wire.request_header(frame[4:])
    assert header == RequestHeader(12, 4, -1, "me", body_at=13)
    assert wire.request_body(frame[4:]) == {
        **HEARTBEAT,
        "groupInstanceId": None,
    }


def test_there_may_be_no_client_id() -> None:
    frame = wire.request("Heartbeat", 4, 7, None, HEARTBEAT)

    assert frame[12:15] == b"\xff\xff\x00"
    assert wire.request_header(frame[4:]).client_id is None


def test_tagged_fields_of_a_header_are_skipped() -> None:
    head = b"\x00\x0c\x00\x04\x00\x00\x00\x07\x00\x02me"

    assert wire.request_header(head + b"\x02\x00\x01x\x63\x02yz" + b"body").body_at == 20


def test_a_response_before_flexible_versions() -> None:
    frame = wire.response("Heartbeat", 1, 7, {"errorCode": 27})

    assert frame == b"\x00\x00\x00\x0a\x00\x00\x00\x07\x00\x00\x00\x00\x00\x1b"
    assert wire.response_body("Heartbeat", 1, frame[4:]) == (
        7,
        {"throttleTimeMs": 0, "errorCode": 27},
    )


def test_a_flexible_response_has_tags_in_its_header() -> None:
    frame = wire.response("Heartbeat", 4, 7, {"errorCode": 27})

    assert frame == b"\x00\x00\x00\x0c\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x1b\x00"
    assert wire.response_body("Heartbeat", 4, frame[4:])[1]["errorCode"] == 27


def test_a_response_to_api_versions_never_has_tags_in_its_header() -> None:
    frame = wire.response("ApiVersions", 3, 7, {"errorCode": 35})

    assert frame == (
        b"\x00\x00\x00\x0c\x00\x00\x00\x07"
        b"\x00\x23"  # the error, right behind the correlation id
        b"\x01\x00\x00\x00\x00\x00"
    )
    assert wire.response_body("ApiVersions", 3, frame[4:])[1]["errorCode"] == 35


def test_api_versions_of_a_newer_kafka_has_a_header_all_the_same() -> None:
    frame = b"\x00\x12\x00\x63\x00\x00\x00\x07\x00\x02me\x00" + b"whatever it may say"

    assert wire.request_header(frame) == RequestHeader(18, 99, 7, "me", body_at=13)
    with pytest.raises(WireError, match=r"^ApiVersionsRequest: version 99 is not in 0-5$"):
        wire.decode("ApiVersionsRequest", 99, frame, 13)


@pytest.mark.parametrize(
    ("frame", "why"),
    [
        (b"", r"^RequestHeader: 0 bytes are no request$"),
        (b"\x00\x0c\x00", r"^RequestHeader: 3 bytes are no request$"),
        (b"\x16\x03\x01\x02\x00", r"^RequestHeader: requestApiKey: 5635 is unknown$"),  # TLS
        (
            b"\x00\x0c\x00\x04\x00\x00",
            r"^RequestHeader v2: correlationId: ends too early, 2 bytes left$",
        ),
        (
            b"\x00\x0c\x00\x04\x00\x00\x00\x07\x00\x09me",
            r"^RequestHeader v2: clientId: 9 bytes wanted, 2 left$",
        ),
        (
            b"\x00\x0c\x00\x04\x00\x00\x00\x07\x00\x02me\x01\x00\x05x",
            r"^RequestHeader v2: unknown tagged field: 5 bytes wanted, 1 left$",
        ),
    ],
)
def test_what_is_no_header(frame: bytes, why: str) -> None:
    with pytest.raises(WireError, match=why):
        wire.request_header(frame)


BROKER = {"host": "kafka", "port": 9092, "rack": None}
TOPIC = {"name": "orders", "partitions": [{"partitionIndex": 0, "replicaNodes": [1]}]}
REWRITTEN = [
    ("Metadata", version, "topics", {"brokers": [{"nodeId": 1, **BROKER}], "topics": [TOPIC] * 3})
    for version in wire.valid_versions("Metadata")
] + [
    (
        "DescribeCluster",
        version,
        "clusterAuthorizedOperations",
        {"brokers": [{"brokerId": 1, **BROKER}], "clusterAuthorizedOperations": 5},
    )
    for version in wire.valid_versions("DescribeCluster")
]


@pytest.mark.parametrize(("api", "version", "before", "body"), REWRITTEN)
def test_the_first_fields_of_a_response_are_rewritten_in_every_version(
    api: str, version: int, before: str, body: dict[str, Any]
) -> None:
    moved = {**body, "brokers": [{**body["brokers"][0], "host": "gateway.example.com"}]}
    frame = wire.response(api, version, 7, body)[4:]

    opening = wire.ResponseOpening(api, version, before, frame)
    [broker] = opening.fields["brokers"]
    broker["host"] = "gateway.example.com"

    assert opening.followed_by(frame[opening.end :]) == wire.response(api, version, 7, moved)


def test_what_is_behind_the_rewritten_fields_is_not_read() -> None:
    frame = wire.response("Metadata", 0, 7, {"brokers": [], "topics": []})[4:-4] + b"anything"

    opening = wire.ResponseOpening("Metadata", 0, "topics", frame)

    assert opening.followed_by(frame[opening.end :])[4:] == frame


@pytest.mark.parametrize("version", wire.valid_versions("Metadata"))
def test_the_elements_of_an_array_are_those_of_the_whole_response(version: int) -> None:
    body = {"brokers": [{"nodeId": 1, **BROKER}], "topics": [TOPIC, {**TOPIC, "name": "refunds"}]}
    frame = wire.response("Metadata", version, 7, body)[4:]
    first, topics = wire.response_elements("Metadata", version, "topics", frame)
    whole = wire.response_body("Metadata", version, frame)[1]

    assert {**first, "topics": [*topics]}.items() <= whole.items()


def test_an_array_that_ends_too_early_is_named_when_that_element_is_read() -> None:
    frame = wire.response("Metadata", 1, 7, {"brokers": [], "topics": [TOPIC, TOPIC]})[4:-3]
    _, topics = wire.response_elements("Metadata", 1, "topics", frame)
    next(topics)

    with pytest.raises(WireError, match=r"^MetadataResponse v1: topics: partitions\[0\]\."):
        next(topics)
    with pytest.raises(
        WireError, match=r"^MetadataResponse v1: topics: ends too early, 2 bytes left$"
    ):
        next(wire.response_elements("Metadata", 1, "topics", frame[:14])[1])
