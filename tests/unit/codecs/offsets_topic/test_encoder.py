from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from group_coordinator.codecs.offsets_topic import (
    OffsetsTopicError,
    UnknownRecordTypeError,
    UnknownVersionError,
    decode_entry,
    encode_entry,
)
from group_coordinator.codecs.records.envelope import Key, LogEntry, Value
from tests.conformance.decoder.drawn_messages import TYPES_AND_VERSIONS, drawn
from tests.support.offsets_topic_messages import entry
from tests.unit.codecs.offsets_topic.literals import LITERALS, OF_PARTITION, Literal
from tests.unit.codecs.offsets_topic.newer_literals import NEWER_LITERALS

ALL = LITERALS | NEWER_LITERALS
V3 = {"offset": 42, "leaderEpoch": 3, "metadata": "note", "commitTimestamp": 1_000}


def entry_of(record_type: int, about: dict[str, Any], version: int, says: Any) -> LogEntry:
    return LogEntry(Key(record_type, about), Value(version=version, data=says))


def refused(unfit: LogEntry) -> str:
    with pytest.raises(OffsetsTopicError) as fault:
        encode_entry(unfit)
    return str(fault.value)


@pytest.mark.parametrize("literal", ALL.values(), ids=ALL)
def test_a_row_of_the_log_becomes_the_bytes_that_kafka_writes(literal: Literal) -> None:
    written = encode_entry(
        entry_of(literal.record_type, literal.about, literal.version, literal.says)
    )

    assert written == (bytes.fromhex(literal.key), bytes.fromhex(literal.value))


@pytest.mark.parametrize("literal", ALL.values(), ids=ALL)
def test_a_tombstone_has_no_value(literal: Literal) -> None:
    written = encode_entry(LogEntry(Key(literal.record_type, literal.about), None))

    assert written == (bytes.fromhex(literal.key), None)


@given(st.integers(0, 2**32), st.sampled_from(TYPES_AND_VERSIONS))
def test_a_message_comes_back(seed: int, type_and_version: tuple[int, int]) -> None:
    sent = entry(drawn(Random(seed), *type_and_version))  # noqa: S311 - the same every time, no secret

    group_id, read = decode_entry(*encode_entry(sent))

    assert group_id in sent.key.data.values()
    assert read.key == sent.key
    assert encode_entry(read) == encode_entry(sent)
    assert decode_entry(*encode_entry(read)) == (group_id, read)


def test_what_the_version_has_no_place_for_is_left_out() -> None:
    _, value = encode_entry(entry_of(1, OF_PARTITION, 0, V3))

    assert value == bytes.fromhex("0000 000000000000002a 0004 6e6f7465 00000000000003e8")


@pytest.mark.parametrize(
    ("about", "says", "why"),
    [
        ({"partition": 2**31}, {}, "Key: partition: 2147483648 does not fit 4 bytes"),
        ({"group": "é" * 20_000}, {}, "Key: group: 40000 bytes are too long for a string"),
        ({"topic": None}, {}, "Key: topic: is null"),
        ({}, {"metadata": "\ud800"}, "Value: metadata: is not UTF-8: surrogates not allowed"),
        ({}, {"offset": 2**63}, "Value: offset: 9223372036854775808 does not fit 8 bytes"),
    ],
)
def test_what_does_not_fit_is_not_written(
    about: dict[str, Any], says: dict[str, Any], why: str
) -> None:
    assert refused(entry_of(1, OF_PARTITION | about, 3, V3 | says)) == f"OffsetCommit{why}"


@pytest.mark.parametrize(
    ("topics", "why"),
    [
        (
            [{"topicId": "A" * 22, "partitions": [0, 2**31]}],
            "[0].partitions[1]: 2147483648 does not fit 4 bytes",
        ),
        ([{"topicId": "A" * 22, "partitions": None}], "[0].partitions: is null"),
        (
            [{"topicId": "A" * 21, "partitions": []}],
            "[0].topicId: AAAAAAAAAAAAAAAAAAAAA is no uuid",
        ),
        ([None], "[0]: is null"),
        (None, ": is null"),
    ],
)
def test_what_does_not_fit_inside_an_array_is_named(topics: Any, why: str) -> None:
    target = entry_of(7, {"groupId": "g", "memberId": "m"}, 0, {"topicPartitions": topics})

    assert refused(target) == f"ConsumerGroupTargetAssignmentMemberValue: topicPartitions{why}"


def test_what_is_missing_is_named() -> None:
    members = [{"topicId": "A" * 22, "partitions": [0]}, {"topicId": "A" * 22}]

    assert refused(
        entry_of(7, {"groupId": "g", "memberId": "m"}, 0, {"topicPartitions": members})
    ) == ("ConsumerGroupTargetAssignmentMemberValue: topicPartitions[1].partitions: is missing")


def test_what_kafka_does_not_have_is_not_written() -> None:
    with pytest.raises(UnknownRecordTypeError, match=r"^key: record type: 9 is unknown$"):
        encode_entry(LogEntry(Key(9, {}), None))
    for version in (-1, 5):
        with pytest.raises(UnknownVersionError, match=rf"version: {version} is not in 0-4$"):
            encode_entry(entry_of(1, OF_PARTITION, version, V3))
