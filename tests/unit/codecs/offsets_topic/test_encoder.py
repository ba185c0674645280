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
from group_coordinator.codecs.records.record_types import Key, LogEntry, RecordValue
from tests.conformance.decoder.drawn_messages import TYPES_AND_VERSIONS, drawn
from tests.support.offsets_topic_messages import entry

OF_PARTITION = {"group": "g", "topic": "orders", "partition": 2}
V3 = {"offset": 42, "leaderEpoch": 3, "metadata": "note", "commitTimestamp": 1_000}


def entry_of(record_type: int, about: dict[str, Any], version: int, says: Any) -> LogEntry:
    return LogEntry(Key(record_type, about), RecordValue(version=version, data=says))


def refused(unfit: LogEntry) -> str:
    with pytest.raises(OffsetsTopicError) as fault:
        encode_entry(unfit)
    return str(fault.value)


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
        ({}, {"metadata": "\ud800"}, "Value: metadata: is not UTF-8: surrogates not allowed"),
    ],
)
def test_what_does_not_fit_is_not_written(
    about: dict[str, Any], says: dict[str, Any], why: str
) -> None:
    assert refused(entry_of(1, OF_PARTITION | about, 3, V3 | says)) == f"OffsetCommit{why}"


def test_what_kafka_does_not_have_is_not_written() -> None:
    with pytest.raises(UnknownRecordTypeError, match=r"^key: record type: 9 is unknown$"):
        encode_entry(LogEntry(Key(9, {}), None))
    for version in (-1, 5):
        with pytest.raises(UnknownVersionError, match=rf"version: {version} is not in 0-4$"):
            encode_entry(entry_of(1, OF_PARTITION, version, V3))
