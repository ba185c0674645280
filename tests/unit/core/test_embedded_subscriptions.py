from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from group_coordinator.core.embedded_protocol import (
    encode_assignment,
    encode_subscription,
    parse_assignment,
    parse_subscription,
)

ORDERS = bytes.fromhex("0000 00000001 0006 6f7264657273 ffffffff")

# All of it settled by Kafka's own coordinator: JoinGroup with these bytes, then OffsetDelete of two topics.
READABLE = {
    "version 0": (ORDERS, ("orders",)),
    "any version is read as version 0": (b"\x00\x63" + ORDERS[2:], ("orders",)),
    "even a negative one": (b"\xff\xff" + ORDERS[2:], ("orders",)),
    "user data": (ORDERS[:-4] + bytes.fromhex("00000003 616263"), ("orders",)),
    "any negative length of user data is null": (ORDERS[:-4] + b"\xff\xff\xff\xfe", ("orders",)),
    "trailing bytes": (ORDERS + b"xyz", ("orders",)),
    "no topics": (bytes.fromhex("0000 00000000 ffffffff"), ()),
    "a topic without a name": (bytes.fromhex("0000 00000001 0000 ffffffff"), ("",)),
    "a topic twice": (
        bytes.fromhex("0000 00000002 0001 61 0001 61 ffffffff"),
        ("a", "a"),
    ),
    "bytes that are no UTF-8": (
        bytes.fromhex("0000 00000001 0003 61ff62 ffffffff"),
        ("a\ufffdb",),
    ),
}

UNREADABLE = {
    "nothing": b"",
    "half a version": b"\x00",
    "a version and nothing else": b"\x00\x01",
    "half a count": b"\x00\x00\x00\x00\x00",
    "no user data": ORDERS[:-4],
    "half the length of the user data": ORDERS[:-2],
    "user data that are too short": ORDERS[:-4] + bytes.fromhex("00000005 616263"),
    "topics that are null": bytes.fromhex("0000 ffffffff ffffffff"),
    "a negative count": bytes.fromhex("0000 fffffffe ffffffff"),
    "a topic that is null": bytes.fromhex("0000 00000001 ffff ffffffff"),
    "fewer topics than counted": bytes.fromhex("0000 00000002 0006 6f7264657273 ffffffff"),
    "a count that cannot be": bytes.fromhex("0000 7fffffff"),
    "a topic longer than the rest": bytes.fromhex("0000 00000001 0064 6f7264657273"),
}

topics = st.lists(st.text(max_size=20), max_size=5)
partitions = st.lists(st.integers(-(2**31), 2**31 - 1), max_size=5)


@pytest.mark.parametrize(("data", "expected"), READABLE.values(), ids=READABLE)
def test_subscriptions_are_read_as_kafka_reads_them(data: bytes, expected: tuple[str, ...]) -> None:
    assert parse_subscription(data) == expected


@pytest.mark.parametrize("data", UNREADABLE.values(), ids=UNREADABLE)
def test_what_kafka_cannot_read_is_unknown(data: bytes) -> None:
    assert parse_subscription(data) is None


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        (0, "0000 00000001 0001 61 00000002 6869"),
        (1, "0001 00000001 0001 61 00000002 6869 00000000"),
        (2, "0002 00000001 0001 61 00000002 6869 00000000 ffffffff"),
        (3, "0003 00000001 0001 61 00000002 6869 00000000 ffffffff ffff"),
    ],
)
def test_a_subscription_has_the_fields_of_its_version(version: int, expected: str) -> None:
    assert encode_subscription(["a"], version, b"hi") == bytes.fromhex(expected)


def test_an_assignment_lists_partitions_by_topic() -> None:
    data = bytes.fromhex("0000 00000001 0001 61 00000002 00000000 00000002 ffffffff")

    assert encode_assignment({"a": [0, 2]}) == data
    assert parse_assignment(data) == (("a", (0, 2)),)


@pytest.mark.parametrize("length", range(20))
def test_an_assignment_that_ends_too_soon_is_unreadable(length: int) -> None:
    data = encode_assignment({"a": [0, 2]})

    assert len(data) > 20
    assert parse_assignment(data[:length]) is None


@given(topics, st.integers(0, 3), st.none() | st.binary(max_size=20))
def test_a_subscription_comes_back(names: list[str], version: int, user_data: bytes | None) -> None:
    assert parse_subscription(encode_subscription(names, version, user_data)) == tuple(names)


@given(st.dictionaries(st.text(max_size=20), partitions, max_size=5))
def test_an_assignment_comes_back(assignment: dict[str, list[int]]) -> None:
    expected = tuple((topic, tuple(numbers)) for topic, numbers in assignment.items())

    assert parse_assignment(encode_assignment(assignment)) == expected


@given(st.binary(max_size=60) | st.binary(max_size=60).map(lambda rest: ORDERS[:6] + rest))
def test_any_bytes_are_topics_or_unreadable(data: bytes) -> None:
    assert isinstance(parse_subscription(data), tuple | None)
    assert isinstance(parse_assignment(data), tuple | None)
