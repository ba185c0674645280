from __future__ import annotations

from collections import Counter
from itertools import islice
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import json

from group_coordinator.codecs.offsets_topic import (
    DamagedMessageError,
    OffsetsTopicError,
    decode_entry,
)
from tests.support.offsets_topic_messages import Message, damaged, recorded, verdict
from tests.unit.codecs.offsets_topic.cases import GROUP_KEY, LEGACY_KEY, OFFSET_KEY

WHOLE = [message for message, _ in islice(recorded(), 0, None, 4)]
"""Messages that Kafka wrote, of every type."""
MEMBER_KEY = "0005 0001 67 0001 6d"
V4 = "0004 000000000000002a 00000003 05 6e6f7465 00000000000003e8"
MEMBER = "0000 00 00 02 63 03 2f68 01 01 00000000 00"


def refused(key: str, value: str | None) -> str:
    with pytest.raises(OffsetsTopicError) as fault:
        decode_entry(bytes.fromhex(key), None if value is None else bytes.fromhex(value))
    return f"{type(fault.value).__name__}: {fault.value}"


UNREADABLE: dict[str, tuple[str, str | None, str]] = {
    "no key": ("", None, "key: record type: 2 bytes wanted, 0 left"),
    "half a record type": ("00", None, "key: record type: 2 bytes wanted, 1 left"),
    "no group": ("0002", None, "GroupMetadataKey: group: ends too early, 0 bytes left"),
    "half an offset before a leader epoch": (
        OFFSET_KEY,
        "0003 00000000",
        "OffsetCommitValue: offset: ends too early, 4 bytes left",
    ),
    "an empty value": (GROUP_KEY, "", "GroupMetadataValue: version: 2 bytes wanted, 0 left"),
    "an unknown tagged field that is cut off": (
        OFFSET_KEY,
        f"{V4} 01 07 10 e24b",
        "OffsetCommitValue: unknown tagged field: 16 bytes wanted, 2 left",
    ),
    "more members than bytes": (
        GROUP_KEY,
        "0000 0000 00000000 ffff ffff 7fffffff",
        "GroupMetadataValue: members: 2147483647 elements in 0 bytes",
    ),
    "a subscription that is null": (
        GROUP_KEY,
        "0000 0000 00000000 ffff ffff 00000001 0000 0000 0000 00002710 ffffffff 00000000",
        "GroupMetadataValue: members[0].subscription: is null",
    ),
    "half a protocol of a classic member": (
        MEMBER_KEY,
        f"{MEMBER} 01 00 09 01 00002710 02 02 72",
        (
            "ConsumerGroupMemberMetadataValue: classicMemberMetadata.supportedProtocols[0].metadata:"
            " ends too early, 0 bytes left"
        ),
    ),
}


@pytest.mark.parametrize(("key", "value", "why"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_is_damaged_is_named(key: str, value: str | None, why: str) -> None:
    assert refused(key, value) == f"DamagedMessageError: {why}"


def test_a_message_without_a_key_is_damaged() -> None:
    with pytest.raises(DamagedMessageError, match=r"^key: is null$"):
        decode_entry(None, b"")


@pytest.mark.parametrize("record_type", [-1, 9, 18, 24, 32_767])
@pytest.mark.parametrize("value", [None, "0000"])
def test_a_type_that_kafka_does_not_have_is_unknown(record_type: int, value: str | None) -> None:
    why = refused(f"{record_type % 2**16:04x} 0001 67", value)
    assert why == f"UnknownRecordTypeError: key: record type: {record_type} is unknown"


@pytest.mark.parametrize(
    ("key", "version", "why"),
    [
        (OFFSET_KEY, 5, "OffsetCommitValue: version: 5 is not in 0-4"),
        (OFFSET_KEY, -1, "OffsetCommitValue: version: -1 is not in 0-4"),
        (LEGACY_KEY, 1, "LegacyOffsetCommitValue: version: 1 is not in 0-0"),
        (GROUP_KEY, 5, "GroupMetadataValue: version: 5 is not in 0-4"),
        ("0003 0001 67", 1, "ConsumerGroupMetadataValue: version: 1 is not in 0-0"),
        ("0017 0001 67", 1, "StreamsGroupTopologyValue: version: 1 is not in 0-0"),
    ],
)
def test_a_version_that_kafka_does_not_have_is_unknown(key: str, version: int, why: str) -> None:
    assert refused(key, f"{version % 2**16:04x} 00") == f"UnknownVersionError: {why}"


@pytest.mark.parametrize("message", WHOLE)
def test_a_message_that_ends_anywhere_is_damaged(message: Message) -> None:
    key, value = message

    for length in range(len(value or b"")):
        with pytest.raises(DamagedMessageError):
            decode_entry(key, (value or b"")[:length])
    for length in range(len(key)):
        with pytest.raises(DamagedMessageError):
            decode_entry(key[:length], value)


keys = st.sampled_from([message.key for message in WHOLE])
values = st.builds(
    lambda version, rest: bytes([0, version]) + rest, st.integers(0, 4), st.binary(max_size=80)
)


@given(st.binary(max_size=20) | keys, st.none() | st.binary(max_size=20) | values)
def test_any_bytes_are_a_message_or_refused(key: bytes, value: bytes | None) -> None:
    try:
        _, entry = decode_entry(key, value)
    except OffsetsTopicError:
        return
    assert json.decode(json.encode(entry)) is not None


def test_damage_of_any_kind_is_told_and_stops_nobody() -> None:
    """Kafka is asked too by `python -m tests.conformance.decoder.long_run`."""
    random = Random(1)  # noqa: S311 - the same every time, no secret
    whole = [message for message, kafkas in recorded() if "json" in kafkas]

    verdicts = [verdict(damaged(random, random.choice(whole))) for _ in range(20_000)]

    found = Counter(judged.get("fault", "json") for judged in verdicts)
    assert found.keys() == {"json", "type", "version", "damage"}
