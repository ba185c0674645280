from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from group_coordinator.codecs.offsets_topic import (
    MessageRecord,
    OffsetsTopicError,
    UnknownRecordTypeError,
    decode,
    encode_key,
    encode_legacy_key,
    encode_value,
)
from group_coordinator.codecs.uuids import ZERO_UUID
from group_coordinator.core.model.records import GroupMetadata, GroupRecord, OffsetRecord, Reason
from tests.unit.codecs import strategies
from tests.unit.codecs.offsets_topic.cases import (
    BARE,
    CASES,
    DYNAMIC,
    EXPIRING,
    GROUP_KEY,
    KNOWN,
    LEGACY_KEY,
    NEW,
    ODD,
    OFFSET_KEY,
    OLD,
    ONE,
    ORDERS_ID,
    PLAIN,
    TWO,
    Case,
    Value,
)

V0 = "0000 000000000000002a 0004 6e6f7465 00000000000003e8"
V4 = "0004 000000000000002a 00000003 05 6e6f7465 00000000000003e8"
TAGGED_ID = "00 10 e24b0ed5b70b4a0092b582674e50952e"
UNREADABLE_KEYS = {
    "nothing": ("", "record type: 2 bytes wanted, 0 left"),
    "half a record type": ("00", "record type: 2 bytes wanted, 1 left"),
    "no group": ("0002", "group: 2 bytes wanted, 0 left"),
    "a group that is null": ("0002 ffff", "group: is null"),
    "a negative length": ("0002 fffe", "group: has the length -2"),
    "a group that is cut off": ("0002 0002 67", "group: 2 bytes wanted, 1 left"),
    "a group that is no UTF-8": ("0002 0002 c328", "group: is no UTF-8: invalid continuation byte"),
    "more than a group": (GROUP_KEY + "00", "end: 1 bytes too many"),
    "no topic": ("0001 0001 67", "topic: 2 bytes wanted, 0 left"),
    "half a partition": (OFFSET_KEY[:-4], "partition: 4 bytes wanted, 2 left"),
    "more than a partition": (OFFSET_KEY + "0000", "end: 2 bytes too many"),
}
UNREADABLE_VALUES = {
    "nothing": (OFFSET_KEY, "", "version: 2 bytes wanted, 0 left"),
    "an offset of the future": (OFFSET_KEY, "0005" + V4[4:], "version: 5 is not in 0-4"),
    "an offset of the past": (OFFSET_KEY, "ffff" + V0[4:], "version: -1 is not in 0-4"),
    "a legacy offset of the future": (LEGACY_KEY, "0001" + V0[4:], "version: 1 is not in 0-0"),
    "a group of the future": (GROUP_KEY, "0005 00", "version: 5 is not in 0-4"),
    "metadata that are null": (
        OFFSET_KEY,
        "0000 000000000000002a ffff 00000000000003e8",
        "OffsetCommit value: metadata: is null",
    ),
    "compact metadata that are null": (
        OFFSET_KEY,
        "0004 000000000000002a ffffffff 00 00000000000003e8 00",
        "metadata: is null",
    ),
    "metadata of negative length": (
        OFFSET_KEY,
        "0000 000000000000002a 8000 00000000000003e8",
        "metadata: has the length -32768",
    ),
    "metadata that are no UTF-8": (
        OFFSET_KEY,
        "0000 000000000000002a 0001 ff 00000000000003e8",
        "metadata: is no UTF-8: invalid start byte",
    ),
    "metadata longer than the rest": (
        OFFSET_KEY,
        "0004 000000000000002a ffffffff ff01 6e6f7465",
        "metadata: 254 bytes wanted, 4 left",
    ),
    "compact metadata longer than a string": (
        OFFSET_KEY,
        f"0004 000000000000002a ffffffff 818002 {'61' * 32_768} 00000000000003e8 00",
        "metadata: 32768 bytes are too long for a string",
    ),
    "an endless varint": (
        OFFSET_KEY,
        "0004 000000000000002a ffffffff ffffffffff01",
        "metadata: a varint of more than five bytes",
    ),
    "a topic id that is too long": (
        OFFSET_KEY,
        f"{V4} 01 00 11 00{TAGGED_ID[6:]}",
        "topicId: 17 bytes are no uuid",
    ),
    "a tagged field longer than the rest": (
        OFFSET_KEY,
        V4 + "01 00 10 e24b",
        "tagged field: 16 bytes wanted, 2 left",
    ),
    "fewer tagged fields than announced": (
        OFFSET_KEY,
        f"{V4} 02 {TAGGED_ID}",
        "tag: 1 bytes wanted, 0 left",
    ),
    "more than the tagged fields": (OFFSET_KEY, V4 + "00 00", "end: 1 bytes too many"),
    "members that are null": (
        GROUP_KEY,
        "0000 0000 00000000 ffff ffff ffffffff",
        "GroupMetadata value: members: is null",
    ),
    "a negative number of members": (
        GROUP_KEY,
        "0000 0000 00000000 ffff ffff fffffffe",
        "members: has the length -2",
    ),
    "fewer members than announced": (
        GROUP_KEY,
        "0000 0000 00000000 ffff ffff 7fffffff",
        "memberId: 2 bytes wanted, 0 left",
    ),
    "a leader of negative length": (
        GROUP_KEY,
        "0000 0000 00000000 ffff fffe 00000000",
        "leader: has the length -2",
    ),
    "a subscription that is null": (
        GROUP_KEY,
        "0000 0000 00000000 ffff ffff 00000001 0000 0000 0000 00002710 ffffffff 00000000",
        "subscription: is null",
    ),
    "an assignment longer than the rest": (
        GROUP_KEY,
        "0000 0000 00000000 ffff ffff 00000001 0000 0000 0000 00002710 00000000 00000001",
        "assignment: 1 bytes wanted, 0 left",
    ),
}


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
    assert encode_key(group_id, record) == bytes.fromhex(key)
    assert decoded(key, None) == (group_id, record.replace(value=None))


@pytest.mark.parametrize("case", CASES)
def test_a_value_has_the_fields_of_its_version(case: Case) -> None:
    data = bytes.fromhex(case.data)

    assert encode_value(record_of(case.value), case.version) == data
    assert decoded(key_of(case), case.data) == ("g", record_of(case.read_back))
    assert encode_value(record_of(case.read_back), case.version) == data


@pytest.mark.parametrize(
    ("value", "version"),
    [(PLAIN, 4), (KNOWN, 4), (ODD, 4), (EXPIRING, 1), (NEW, 3), (OLD, 3), (ONE, 3), (TWO, 3)],
)
def test_a_value_has_the_version_that_kafka_writes(value: Value, version: int) -> None:
    record = record_of(value)

    assert encode_value(record) == encode_value(record, version)


def test_a_tombstone_has_no_value() -> None:
    assert encode_value(OffsetRecord("orders", 2, None, Reason.OFFSET_EXPIRED)) is None
    assert encode_value(GroupRecord(None, Reason.GROUP_EXPIRED), 3) is None
    assert decoded(OFFSET_KEY, None) == ("g", record_of(None))
    assert decoded(GROUP_KEY, None) == ("g", GroupRecord(None, Reason.MIRRORED))


def test_a_legacy_offset_is_an_offset() -> None:
    record = OffsetRecord("orders", 2, BARE, Reason.MIRRORED)

    assert encode_legacy_key("g", record) == bytes.fromhex(LEGACY_KEY)
    assert encode_value(record, 0) == bytes.fromhex(V0)
    assert decoded(LEGACY_KEY, V0) == decoded(OFFSET_KEY, V0) == ("g", record)
    assert decoded(LEGACY_KEY, None) == ("g", record_of(None))


@pytest.mark.parametrize(
    ("tagged_fields", "topic_id"),
    [
        ("00", None),
        (f"01 {TAGGED_ID}", ORDERS_ID),
        (f"01 00 10 {'00' * 16}", None),
        (f"02 {TAGGED_ID} 07 02 abcd", ORDERS_ID),
        ("01 ffffffff0f 00", None),
        (f"02 00 10 {'ff' * 16} {TAGGED_ID}", ORDERS_ID),
    ],
)
def test_only_the_topic_id_is_taken_from_the_tagged_fields(
    tagged_fields: str, topic_id: str | None
) -> None:
    offset = KNOWN.replace(topic_id=topic_id)

    assert decoded(OFFSET_KEY, V4 + tagged_fields) == ("g", record_of(offset))


def test_tagged_fields_of_groups_and_members_are_passed_over() -> None:
    data = (
        "0004 08 636f6e6e656374 00000004 01 02 6e 00000000000003e8 02"
        "02 6e 00 02 63 03 2f68 ffffffff 00002710 01 01 01 00 03 616263"
        "02 01 00 05 01 ff"
    )

    assert decoded(GROUP_KEY, data) == ("g", record_of(TWO.replace(members=(DYNAMIC,))))


@pytest.mark.parametrize("record_type", ["ffff", "0009", "000a", "0011", "7fff"])
@pytest.mark.parametrize("value", [None, "0000"])
def test_records_of_later_protocols_are_told_apart(record_type: str, value: str | None) -> None:
    with pytest.raises(UnknownRecordTypeError, match="is of no classic or consumer group"):
        decoded(f"{record_type} 02 67", value)


@pytest.mark.parametrize(("key", "why"), UNREADABLE_KEYS.values(), ids=UNREADABLE_KEYS)
def test_a_key_that_kafka_does_not_write_is_refused(key: str, why: str) -> None:
    with pytest.raises(OffsetsTopicError) as refused:
        decoded(key, None)
    assert str(refused.value) == f"key: {why}"


@pytest.mark.parametrize(("key", "value", "why"), UNREADABLE_VALUES.values(), ids=UNREADABLE_VALUES)
def test_a_value_that_kafka_does_not_write_is_refused(key: str, value: str, why: str) -> None:
    with pytest.raises(OffsetsTopicError, match=f"{why}$"):
        decoded(key, value)


@pytest.mark.parametrize("case", CASES)
def test_a_value_with_more_or_less_than_its_fields_is_refused(case: Case) -> None:
    key, data = bytes.fromhex(key_of(case)), bytes.fromhex(case.data)

    for other in [data + b"\x00", *(data[:length] for length in range(len(data)))]:
        with pytest.raises(OffsetsTopicError):
            decode(key, other)


def test_what_does_not_fit_is_not_written() -> None:
    record = OffsetRecord("orders", 2**31, BARE, Reason.MIRRORED)
    with pytest.raises(OffsetsTopicError, match="key: partition: 2147483648 does not fit 4 bytes"):
        encode_key("g", record)
    with pytest.raises(OffsetsTopicError, match="key: group: 40000 bytes are too long"):
        encode_key("é" * 20_000, record)
    with pytest.raises(OffsetsTopicError, match="metadata: is no UTF-8: surrogates not allowed"):
        encode_value(record_of(BARE.replace(metadata="\ud800")))


@pytest.mark.parametrize("version", [-1, 5])
def test_an_unknown_version_is_not_written(version: int) -> None:
    for value in (BARE, NEW):
        with pytest.raises(OffsetsTopicError, match=f"version: {version} is not in 0-4"):
            encode_value(record_of(value), version)


offsets = (strategies.lasting_offsets | strategies.expiring_offsets).filter(
    lambda offset: offset.topic_id != ZERO_UUID
)
messages: st.SearchStrategy[MessageRecord] = st.builds(
    lambda topic, partition, offset: OffsetRecord(topic, partition, offset, Reason.MIRRORED),
    strategies.names,
    strategies.int32s,
    st.none() | offsets,
) | st.builds(GroupRecord, st.none() | strategies.group_metadata(), st.just(Reason.MIRRORED))
keys = st.sampled_from([OFFSET_KEY, LEGACY_KEY, GROUP_KEY]).map(bytes.fromhex)
values = st.builds(
    lambda version, rest: bytes([0, version]) + rest, st.integers(0, 4), st.binary(max_size=80)
)


@given(strategies.names, messages)
def test_a_record_comes_back(group_id: str, record: MessageRecord) -> None:
    assert decode(encode_key(group_id, record), encode_value(record)) == (group_id, record)


@given(messages, st.integers(0, 4))
def test_a_version_comes_back_with_all_it_has_a_place_for(
    record: MessageRecord, version: int
) -> None:
    value = encode_value(record, version)

    _, read_back = decode(encode_key("g", record), value)
    assert encode_value(read_back, version) == value


@given(st.binary(max_size=20) | keys, st.binary(max_size=20) | values)
def test_any_bytes_are_a_record_or_refused(key: bytes, value: bytes) -> None:
    with suppress(OffsetsTopicError):
        decode(key, value)
