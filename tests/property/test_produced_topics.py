"""Produce requests with damaged bytes, in any pieces: their topics are those that the decoder finds, which Kafka's own judges."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from group_coordinator.binary.notation import decoded_as_java
from group_coordinator.codecs import wire
from group_coordinator.gateway.connections.produce_request import (
    ProducedTopics,
    only_topic,
    read_beginning,
)
from group_coordinator.gateway.frames import FrameError
from tests.property.test_gateway_requests import DAMAGES, Damage

CLOSED = "own"
HEADER_BYTES = 15
"""Size, key, version, correlation id and client id; the last byte of those with tags is open to damage."""
RECORDS = st.one_of(st.none(), st.sampled_from([b"", b"\4own", b"\0\3own", bytes(130)]))
PARTITIONS = st.lists(RECORDS, max_size=4).map(
    lambda all_records: [
        {"index": 0, "records": None if each is None else b64encode(each).decode()}
        for each in all_records
    ]
)
TOPICS = st.lists(
    st.builds(
        lambda name, partitions: {"name": name, "partitionData": partitions},
        st.sampled_from([CLOSED, "owner", "", "other"]),
        PARTITIONS,
    ),
    max_size=4,
)


@given(st.integers(3, 11), TOPICS, st.lists(DAMAGES, max_size=2), st.lists(st.integers(1, 40)))
def test_names_are_those_of_the_decoder(
    version: int, topics: list[dict[str, Any]], damages: list[Damage], sizes: list[int]
) -> None:
    body = {"acks": -1, "timeoutMs": 100, "topicData": topics}
    frame = wire.request("Produce", version, 1, "c", body)
    for place, taken, given_instead in damages:
        at = HEADER_BYTES + int(place * (len(frame) - HEADER_BYTES))
        frame = frame[:at] + given_instead + frame[at + taken :]
    names = decoded_names(version, frame)
    if names is not None:
        assert is_refused(version, memoryview(frame), sizes) is (CLOSED in names)
        assert only_topic_of(version, memoryview(frame)) == (names[0] if len(names) == 1 else None)


def decoded_names(version: int, frame: bytes) -> list[str] | None:
    """None: a broker would not read it."""
    try:
        body_at = wire.request_header(frame[4:]).body_at
        body = wire.decode("ProduceRequest", version, frame[4:], body_at)
    except wire.WireError:
        return None
    return [topic["name"] for topic in body["topicData"]]


def only_topic_of(version: int, frame: memoryview) -> str | None:
    beginning = read_beginning(version, frame)
    assert beginning is not None
    name = only_topic(version, frame, beginning.topics_at)
    return None if name is None else decoded_as_java(name)


def is_refused(version: int, frame: memoryview, sizes: list[int]) -> bool:
    """The first piece has what comes before the topics, as FrameFollower sees to it."""
    beginning = read_beginning(version, frame)
    assert beginning is not None
    topics = ProducedTopics(version, beginning.topics_at, {CLOSED.encode()})
    cuts = [beginning.topics_at]
    for size in sizes:
        cuts.append(min(cuts[-1] + size, len(frame)))
    try:
        for start, end in zip([0, *cuts], [*cuts, len(frame)], strict=True):
            topics.follow(frame[start:end])
    except FrameError:
        return True
    return False
