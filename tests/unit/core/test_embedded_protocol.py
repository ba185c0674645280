"""The bytes of classic members, read as a consumer group reads them; the outcomes are Kafka's."""

from __future__ import annotations

import pytest

from group_coordinator.core.embedded_protocol import (
    EmbeddedAssignment,
    MalformedProtocolError,
    Subscription,
    encode_assignment,
    read_assignment,
    read_subscription,
    read_version,
)

TOPICS = "00000001 0006 6f7264657273"
OWNED = "00000001 0006 6f7264657273 00000002 00000000 00000002"
NO_BYTES = "ffffffff"


def test_a_subscription_has_what_its_version_has() -> None:
    first = read_subscription(bytes.fromhex(f"0000 {TOPICS} {NO_BYTES}"))
    second = read_subscription(bytes.fromhex(f"0001 {TOPICS} {NO_BYTES} {OWNED}"))
    fourth = read_subscription(
        bytes.fromhex(f"0003 {TOPICS} {NO_BYTES} {OWNED} 00000007 0002 7231")
    )

    assert first == Subscription(("orders",), (), None)
    assert second == Subscription(("orders",), (("orders", (0, 2)),), None)
    assert fourth == Subscription(("orders",), (("orders", (0, 2)),), "r1")


def test_a_later_version_is_read_as_the_highest_known() -> None:
    data = bytes.fromhex(f"0009 {TOPICS} {NO_BYTES} 00000000 ffffffff ffff 1234")
    assert read_subscription(data) == Subscription(("orders",), (), None)


@pytest.mark.parametrize(
    "data",
    [
        *(
            "",
            "00",
            "0001 00000001 00",
            f"ffff {TOPICS} {NO_BYTES}",
            f"0001 {TOPICS} {NO_BYTES} 00",
        ),
        *("0001 ffffffff", "0001 7fffffff 00", "0000 00000001 ffff", f"0000 {TOPICS} 00000005 61"),
    ],
    ids=[
        *(
            "nothing",
            "half a version",
            "half a topic",
            "a negative version",
            "half of what it owns",
        ),
        *("topics that are null", "a huge count", "a topic that is null", "too few bytes"),
    ],
)
def test_a_subscription_that_ends_early_or_contradicts_itself_is_malformed(data: str) -> None:
    with pytest.raises(MalformedProtocolError):
        read_subscription(bytes.fromhex(data))


def test_an_assignment_comes_back_as_it_was_written() -> None:
    data = encode_assignment({"orders": (0, 2)}, 3, b"custom")

    assert read_version(data) == 3
    assert read_assignment(data) == EmbeddedAssignment((("orders", (0, 2)),), b"custom")
    assert read_version(encode_assignment({}, 9)) == 3


def test_an_assignment_that_ends_early_is_malformed() -> None:
    with pytest.raises(MalformedProtocolError):
        read_assignment(bytes.fromhex("0001 00000000"))
    with pytest.raises(MalformedProtocolError):
        read_version(b"\0")
