from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from group_coordinator.codecs.fields import ZERO_UUID
from group_coordinator.codecs.offsets_topic import (
    MessageRecord,
    UnknownRecordTypeError,
    decode,
    encode,
)
from group_coordinator.core.model.records import GroupMetadata, GroupRecord, OffsetRecord, Reason
from group_coordinator.core.model.topic_offsets import CommittedOffset
from tests.unit.codecs import strategies
from tests.unit.codecs.offsets_topic.cases import (
    BARE,
    CASES,
    DYNAMIC,
    EXPIRING,
    GROUP_KEY,
    LEGACY_KEY,
    OFFSET_KEY,
    TWO,
    Case,
    Value,
)

V0 = "0000 000000000000002a 0004 6e6f7465 00000000000003e8"

WRITTEN_VERSIONS: dict[type, str] = {CommittedOffset: "0004", GroupMetadata: "0003"}
NO_GROUP = GroupRecord(None, Reason.MIRRORED)


def record_of(value: Value | None) -> MessageRecord:
    if isinstance(value, GroupMetadata):
        return GroupRecord(value, Reason.MIRRORED)
    return OffsetRecord("orders", 2, value, Reason.MIRRORED)


def decoded(key: str, value: str | None) -> tuple[str, MessageRecord]:
    return decode(bytes.fromhex(key), None if value is None else bytes.fromhex(value))


def key_of(case: Case) -> str:
    return GROUP_KEY if isinstance(case.value, GroupMetadata) else OFFSET_KEY


@pytest.mark.parametrize(
    ("group_id", "record", "key"),
    [
        ("g", record_of(BARE), OFFSET_KEY),
        ("é", OffsetRecord("", -1, None, Reason.MIRRORED), "0001 0002 c3a9 0000 ffffffff"),
        ("g", GroupRecord(None, Reason.MIRRORED), GROUP_KEY),
        ("", GroupRecord(None, Reason.MIRRORED), "0002 0000"),
    ],
)
def test_a_key_says_what_the_record_is_about(
    group_id: str, record: MessageRecord, key: str
) -> None:
    written, _ = encode(group_id, record)

    assert written == bytes.fromhex(key)
    assert decoded(key, None) == (group_id, record.replace(value=None))


@pytest.mark.parametrize("case", CASES)
def test_a_value_has_the_fields_of_its_version(case: Case) -> None:
    assert decoded(key_of(case), case.data) == ("g", record_of(case.value))


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.data[:4] == WRITTEN_VERSIONS[type(case.value)]]
)
def test_a_value_has_the_version_that_kafka_writes(case: Case) -> None:
    assert encode("g", record_of(case.value)) == (
        bytes.fromhex(key_of(case)),
        bytes.fromhex(case.data),
    )


def test_only_an_old_version_has_a_place_for_the_time_to_expire() -> None:
    _, value = encode("g", record_of(EXPIRING))

    assert value == bytes.fromhex(
        "0001 000000000000002a 0004 6e6f7465 00000000000003e8 0000000000001770"
    )


def test_a_tombstone_has_no_value() -> None:
    for key, tombstone in ((OFFSET_KEY, record_of(None)), (GROUP_KEY, NO_GROUP)):
        assert encode("g", tombstone) == (bytes.fromhex(key), None)
        assert decoded(key, None) == ("g", tombstone)


def test_a_legacy_offset_is_an_offset() -> None:
    record = OffsetRecord("orders", 2, BARE, Reason.MIRRORED)

    assert decoded(LEGACY_KEY, V0) == decoded(OFFSET_KEY, V0) == ("g", record)
    assert decoded(LEGACY_KEY, None) == ("g", record_of(None))


def test_tagged_fields_of_groups_and_members_are_passed_over() -> None:
    data = (
        "0004 08 636f6e6e656374 00000004 01 02 6e 00000000000003e8 02"
        "02 6e 00 02 63 03 2f68 ffffffff 00002710 01 01 01 00 03 616263"
        "02 01 00 05 01 ff"
    )

    assert decoded(GROUP_KEY, data) == ("g", record_of(TWO.replace(members=(DYNAMIC,))))


@pytest.mark.parametrize("key", ["000a 0001 67 0001 6d", "0011 0001 67", "0017 0001 67"])
def test_records_of_other_groups_are_told_apart(key: str) -> None:
    with pytest.raises(UnknownRecordTypeError, match="belongs to no classic or consumer group"):
        decoded(key, None)


offsets = (strategies.lasting_offsets | strategies.expiring_offsets).filter(
    lambda offset: offset.topic_id != ZERO_UUID
)
messages: st.SearchStrategy[MessageRecord] = st.builds(
    lambda topic, partition, offset: OffsetRecord(topic, partition, offset, Reason.MIRRORED),
    strategies.names,
    strategies.int32s,
    st.none() | offsets,
) | st.builds(GroupRecord, st.none() | strategies.group_metadata(), st.just(Reason.MIRRORED))


@given(strategies.names, messages)
def test_a_record_comes_back(group_id: str, record: MessageRecord) -> None:
    assert decode(*encode(group_id, record)) == (group_id, record)
