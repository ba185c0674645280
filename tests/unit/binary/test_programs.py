from __future__ import annotations

from typing import Any

import pytest

from group_coordinator.binary.layouts import OFFSETS_TOPIC, RESPONSES, Rules
from group_coordinator.binary.notation import Message, int16s, int32, string, strings, struct
from group_coordinator.binary.programs import READING_FAILURES, WRITING_FAILURES, Decoder, Encoder

LEADER = struct("leader", nullable=True, tag=0)[int32("id"), string("host")]
EPOCH = int32("epoch", tag=1, default=-1)
TAGGED = Message("Tagged", range(1), 0, (int32("number"), LEADER, EPOCH))
ARRAYS = Message("Arrays", range(1), 0, (strings("names"), int16s("numbers")))
NO_LEADER = {"id": 0, "host": ""}


def read(message: Message, rules: Rules, data: bytes) -> dict[str, Any]:
    return Decoder(message, 0, rules).run(data, 0, len(data))[0]


def written(message: Message, rules: Rules, body: dict[str, Any]) -> bytes:
    return bytes(Encoder(message, 0, rules).run(bytearray(), body))


def test_defaults_are_filled_in_or_left_out_by_the_rules() -> None:
    data = b"\x00\x00\x00\x05\x00"

    assert read(TAGGED, RESPONSES, data) == {"number": 5, "leader": NO_LEADER, "epoch": -1}
    assert read(TAGGED, OFFSETS_TOPIC, data) == {"number": 5}
    assert written(TAGGED, RESPONSES, {"number": 5, "leader": NO_LEADER}) == data
    assert written(TAGGED, OFFSETS_TOPIC, {"number": 5, "leader": NO_LEADER, "epoch": -1}) == data


def test_what_is_missing_is_a_default_or_a_fault_by_the_rules() -> None:
    assert written(TAGGED, RESPONSES, {}) == b"\x00\x00\x00\x00\x00"
    assert why_not_written(TAGGED, OFFSETS_TOPIC, {}) == "number: is missing"
    assert (
        why_not_written(TAGGED, OFFSETS_TOPIC, {"number": 5, "leader": {"id": 3}})
        == "leader.host: is missing"
    )


@pytest.mark.parametrize("rules", [RESPONSES, OFFSETS_TOPIC])
@pytest.mark.parametrize(
    ("leader", "tagged"),
    [
        (None, b"\x01\x00\x01\x00"),
        ({"id": 3, "host": "h"}, b"\x01\x00\x08\x01\x00\x00\x00\x03\x02h\x00"),
    ],
)
def test_a_tagged_struct_that_may_be_null_says_so_in_a_varint(
    rules: Rules, leader: dict[str, Any] | None, tagged: bytes
) -> None:
    data = b"\x00\x00\x00\x05" + tagged

    assert written(TAGGED, rules, {"number": 5, "leader": leader}) == data
    assert read(TAGGED, rules, data)["leader"] == leader


def test_the_rules_have_the_limits() -> None:
    two = Rules(2, 2, fills_in_defaults=True, refuses_longer_text=True)

    assert read(ARRAYS, two, b"\x03\x01\x01\x03\x00\x01\x00\x02\x00") == {
        "names": ["", ""],
        "numbers": [1, 2],
    }
    assert why_not_read(ARRAYS, two, b"\x04\x01\x01\x01") == "names: 3 are too many"
    assert why_not_read(ARRAYS, two, b"\x01\x04" + bytes(6)) == "numbers: 3 are too many"
    read(ARRAYS, two, b"\x01\x01\x02\x09\x00\x09\x00")
    assert (
        why_not_read(ARRAYS, two, b"\x01\x01\x03" + b"\x09\x00" * 3)
        == "count of tagged fields: 3 are too many"
    )


def test_numbers_are_not_read_where_there_are_fewer_bytes() -> None:
    assert why_not_read(ARRAYS, RESPONSES, b"\x01\x04" + bytes(5)) == (
        "numbers: 3 elements in 5 bytes"
    )


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"names": ["a", None]}, "names[1]: is null"),
        ({"names": ["a", "b" * 40_000]}, "names[1]: 40000 bytes are too long for a string"),
        ({"names": ["a", "\udc00"]}, "names[1]: is not UTF-8: surrogates not allowed"),
        ({"names": 5}, "names: object of type 'int' has no len()"),
        ({"numbers": None}, "numbers: is null"),
        ({"numbers": [1, 70_000]}, "numbers[1]: 70000 does not fit 2 bytes"),
        ({"numbers": ["1"]}, "numbers[0]: required argument is not an integer"),
        ({"numbers": 5}, "numbers: object of type 'int' has no len()"),
    ],
)
def test_what_cannot_be_written_is_named(body: dict[str, Any], why: str) -> None:
    assert why_not_written(ARRAYS, RESPONSES, body) == why


def test_a_tagged_number_that_cannot_be_written_is_named() -> None:
    assert why_not_written(TAGGED, RESPONSES, {"epoch": 2**31}) == (
        "epoch: 2147483648 does not fit 4 bytes"
    )


def why_not_read(message: Message, rules: Rules, data: bytes) -> str:
    decoder = Decoder(message, 0, rules)
    with pytest.raises(READING_FAILURES) as failure:
        decoder.run(data, 0, len(data))
    return str(decoder.fault(failure.value))


def why_not_written(message: Message, rules: Rules, body: dict[str, Any]) -> str:
    encoder = Encoder(message, 0, rules)
    with pytest.raises(WRITING_FAILURES) as failure:
        encoder.run(bytearray(), body)
    return str(encoder.fault(failure.value))
