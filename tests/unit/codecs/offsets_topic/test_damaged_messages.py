from __future__ import annotations

from collections import Counter
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
from tests.support.offsets_topic_messages import damaged, recorded, verdict
from tests.unit.codecs.offsets_topic.literals import LITERALS, Literal
from tests.unit.codecs.offsets_topic.newer_literals import NEWER_LITERALS

ALL = LITERALS | NEWER_LITERALS
OFFSET_KEY = "0001 0001 67 0006 6f7264657273 00000002"
LEGACY_KEY = "0000 0001 67 0006 6f7264657273 00000002"
GROUP_KEY = "0002 0001 67"
MEMBER_KEY = "0005 0001 67 0001 6d"
V4 = "0004 000000000000002a 00000003 05 6e6f7465 00000000000003e8"
TAGGED_ID = "00 10 e24b0ed5b70b4a0092b582674e50952e"
MEMBER = "0000 00 00 02 63 03 2f68 01 01 00000000 00"


def refused(key: str, value: str | None) -> str:
    with pytest.raises(OffsetsTopicError) as fault:
        decode_entry(bytes.fromhex(key), None if value is None else bytes.fromhex(value))
    return f"{type(fault.value).__name__}: {fault.value}"


UNREADABLE: dict[str, tuple[str, str | None, str]] = {
    "no key": ("", None, "key: record type: 2 bytes wanted, 0 left"),
    "half a record type": ("00", None, "key: record type: 2 bytes wanted, 1 left"),
    "no group": ("0002", None, "GroupMetadataKey: group: ends too early, 0 bytes left"),
    "a group that is null": ("0002 ffff", None, "GroupMetadataKey: group: is null"),
    "a group that is cut off": (
        "0002 0002 67",
        None,
        "GroupMetadataKey: group: 2 bytes wanted, 1 left",
    ),
    "half a leader epoch": (
        OFFSET_KEY,
        "0003 000000000000002a ffff",
        "OffsetCommitValue: leaderEpoch: ends too early, 2 bytes left",
    ),
    "half an offset before a leader epoch": (
        OFFSET_KEY,
        "0003 00000000",
        "OffsetCommitValue: offset: ends too early, 4 bytes left",
    ),
    "half a partition": (
        OFFSET_KEY[:-4],
        None,
        "OffsetCommitKey: partition: ends too early, 2 bytes left",
    ),
    "no member": (
        "0013 0001 67",
        None,
        "StreamsGroupMemberMetadataKey: memberId: ends too early, 0 bytes left",
    ),
    "an empty value": (GROUP_KEY, "", "GroupMetadataValue: version: 2 bytes wanted, 0 left"),
    "metadata that are null": (
        OFFSET_KEY,
        "0000 000000000000002a ffff",
        "OffsetCommitValue: metadata: is null",
    ),
    "compact metadata that are null": (
        OFFSET_KEY,
        "0004 000000000000002a ffffffff 00",
        "OffsetCommitValue: metadata: is null",
    ),
    "metadata that are longer than the rest": (
        OFFSET_KEY,
        "0004 000000000000002a ffffffff ff01 6e6f7465",
        "OffsetCommitValue: metadata: 254 bytes wanted, 4 left",
    ),
    "compact metadata that are longer than a string": (
        OFFSET_KEY,
        f"0004 000000000000002a ffffffff 818002 {'61' * 32_768} 00000000000003e8 00",
        "OffsetCommitValue: metadata: 32768 bytes are too long for a string",
    ),
    "an endless varint": (
        OFFSET_KEY,
        "0004 000000000000002a ffffffff ffffffffff01",
        "OffsetCommitValue: metadata: a varint of more than five bytes",
    ),
    "a topic id that is cut off": (
        OFFSET_KEY,
        f"{V4} 01 00 10 e24b",
        "OffsetCommitValue: topicId: 16 bytes wanted, 2 left",
    ),
    "an unknown tagged field that is cut off": (
        OFFSET_KEY,
        f"{V4} 01 07 10 e24b",
        "OffsetCommitValue: unknown tagged field: 16 bytes wanted, 2 left",
    ),
    "fewer tagged fields than announced": (
        OFFSET_KEY,
        f"{V4} 02 {TAGGED_ID}",
        "OffsetCommitValue: tag: ends too early, 0 bytes left",
    ),
    "no tagged fields": (
        OFFSET_KEY,
        V4,
        "OffsetCommitValue: count of tagged fields: ends too early, 0 bytes left",
    ),
    "members that are null": (
        GROUP_KEY,
        "0000 0000 00000000 ffff ffff ffffffff",
        "GroupMetadataValue: members: is null",
    ),
    "more members than bytes": (
        GROUP_KEY,
        "0000 0000 00000000 ffff ffff 7fffffff",
        "GroupMetadataValue: members: 2147483647 elements in 0 bytes",
    ),
    "a few members more than bytes": (
        GROUP_KEY,
        "0000 0000 00000000 ffff ffff 00000003 0000",
        "GroupMetadataValue: members: 3 elements in 2 bytes",
    ),
    "half of the second member": (
        GROUP_KEY,
        (
            "0000 0000 00000000 ffff ffff 00000002"
            "0001 6d 0001 63 0002 2f68 00002710 00000000 00000000 0001 6e 0001 63"
        ),
        "GroupMetadataValue: members[1].clientHost: ends too early, 0 bytes left",
    ),
    "a subscription that is null": (
        GROUP_KEY,
        "0000 0000 00000000 ffff ffff 00000001 0000 0000 0000 00002710 ffffffff 00000000",
        "GroupMetadataValue: members[0].subscription: is null",
    ),
    "an assignment that is longer than the rest": (
        GROUP_KEY,
        "0000 0000 00000000 ffff ffff 00000001 0000 0000 0000 00002710 00000000 00000001",
        "GroupMetadataValue: members[0].assignment: 1 bytes wanted, 0 left",
    ),
    "partitions that are cut off": (
        "0007 0001 67 0001 6d",
        f"0000 02 {'00' * 16} 03 00000000 0000",
        (
            "ConsumerGroupTargetAssignmentMemberValue: topicPartitions[0].partitions:"
            " 2 elements in 6 bytes"
        ),
    ),
    "a topic in a topology without a name": (
        "0017 0001 67",
        "0000 00000001 02 02 30 03 02 61 00",
        "StreamsGroupTopologyValue: subtopologies[0].sourceTopics[1]: is null",
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


@pytest.mark.parametrize("literal", ALL.values(), ids=ALL)
def test_a_message_that_ends_anywhere_is_damaged(literal: Literal) -> None:
    key, value = bytes.fromhex(literal.key), bytes.fromhex(literal.value)

    for length in range(len(value)):
        with pytest.raises(DamagedMessageError):
            decode_entry(key, value[:length])
    for length in range(len(key)):
        with pytest.raises(DamagedMessageError):
            decode_entry(key[:length], value)


keys = st.sampled_from([bytes.fromhex(literal.key) for literal in ALL.values()])
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
