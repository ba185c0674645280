from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from itertools import cycle, islice
from random import Random
from time import process_time

import pytest

from group_coordinator.binary.layouts import FieldLayout
from group_coordinator.codecs import wire
from group_coordinator.codecs.wire import WireError
from tests.support.damaged_bytes import damaged_bytes
from tests.support.wire_messages import MESSAGES, Message, drawn_body, layout_of

FRAMES = 100_000
MOST_BYTES_A_BYTE = 130
"""Of memory, for a byte of a frame."""


def test_no_damaged_frame_raises_anything_else() -> None:
    random = Random(0)  # noqa: S311 - the same every time, no secret
    refused = sum(map(is_refused, islice(damaged_frames(random), FRAMES)))

    assert 0.5 * FRAMES < refused < 0.9 * FRAMES


def damaged_frames(random: Random) -> Iterator[bytes]:
    requests = [message for message in MESSAGES if message.name.endswith("Request")]
    frames = [frame(random, request) for request in requests]
    for whole in cycle(frames):
        other = random.choice(frames)
        cut, behind = random.randrange(len(whole)), random.randrange(len(other))
        yield (
            damaged_bytes(random, whole) if random.random() < 0.8 else whole[:cut] + other[behind:]
        )


def frame(random: Random, message: Message) -> bytes:
    api = message.name.removesuffix("Request")
    return wire.request(api, message.version, 7, "billing", drawn_body(random, message))[4:]


def is_refused(data: bytes) -> bool:
    try:
        wire.request_body(data)
    except WireError:
        return True
    return False


def arrays_of_requests() -> list[tuple[Message, FieldLayout]]:
    """Those that may have very small elements."""
    newest = {message.name: message for message in MESSAGES if message.name.endswith("Request")}
    return [
        (message, field)
        for message in newest.values()
        for field in layout_of(message).fields
        if field.is_array and (field.struct or field.type == "string")
    ]


HIGHEST = b"\xff\xff\xff\xff\x07"
"""2^31 - 1 as a varint."""


@pytest.mark.parametrize(
    ("message", "version", "data"),
    [
        ("DeleteGroupsRequest", 1, b"\x7f\xff\xff\xff"),
        ("DeleteGroupsRequest", 2, HIGHEST),
        ("HeartbeatRequest", 4, HIGHEST),
        ("HeartbeatRequest", 4, b"\x02g\x00\x00\x00\x03\x02m\x00" + HIGHEST),
        ("HeartbeatRequest", 4, b"\x02g\x00\x00\x00\x03\x02m\x00\x01\x63" + HIGHEST),
        ("SaslAuthenticateRequest", 1, b"\x7f\xff\xff\xff"),
        ("ListOffsetsRequest", 1, b"\x00\x00\x00\x00\x7f\xff\xff\xff"),
        ("ListGroupsRequest", 4, HIGHEST),
        # Numbers: two bytes an element, but there are only as many bytes as elements.
        ("OffsetFetchRequest", 1, b"\x00\x01g\x00\x00\x00\x01\x00\x01t\x00\x0f\x42\x40"),
    ],
)
def test_no_length_is_believed(message: str, version: int, data: bytes) -> None:
    padded = data + bytes(1_000)
    wire.encode(message, version, {})
    tracemalloc.start()
    start = process_time()
    try:
        with pytest.raises(WireError):
            wire.decode(message, version, padded)
        _, most_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert most_bytes < 1_000_000
    assert process_time() - start < 1


@pytest.mark.parametrize(
    ("message", "field"), arrays_of_requests(), ids=lambda part: getattr(part, "name", None)
)
def test_memory_is_at_most_a_multiple_of_the_frame(message: Message, field: FieldLayout) -> None:
    smallest = field.struct.defaults() if field.struct else ""
    data = wire.encode(*message, {field.name: [smallest] * 1_000})
    wire.decode(*message, data)
    tracemalloc.start()
    try:
        found = wire.decode(*message, data)
        _, most_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert found[field.name] == [smallest] * 1_000
    assert most_bytes < MOST_BYTES_A_BYTE * len(data)
