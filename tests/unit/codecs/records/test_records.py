"""Keys and values here were compared with what Kafka's own converters print."""

from __future__ import annotations

from typing import NamedTuple

import msgspec
import pytest
from hypothesis import given

from group_coordinator.codecs import record_decoder, records
from group_coordinator.codecs.record_decoder import RecordError
from group_coordinator.core.embedded_protocol import encode_subscription
from group_coordinator.core.model.classic_member import Protocol
from group_coordinator.core.model.offset import CommittedOffset
from group_coordinator.core.model.records import (
    GroupMetadata,
    GroupRecord,
    MemberMetadata,
    OffsetRecord,
    Reason,
    Record,
)
from tests.unit.codecs import strategies

ORDERS_ID = "4ksO1bcLSgCStYJnTlCVLg"
OFFSET_KEY = '{"type":1,"data":{"group":"g","topic":"orders","partition":2}}'
GROUP_KEY = '{"type":2,"data":{"group":"g"}}'


class LoggedTexts(NamedTuple):
    record_type: int
    key: str
    value: str | None
    topic: str | None = None
    partition: int | None = None
    member_id: str | None = None
    offset: int | None = None


def logged(group_id: str, record: Record) -> LoggedTexts:
    """The log's row with key and value as the texts that the table gets."""
    entry = records.log_entry(group_id, record)
    facts = (entry.topic, entry.partition, entry.member_id, entry.offset)
    value = None if entry.value is None else text(entry.value)
    return LoggedTexts(entry.record_type, text(entry.key), value, *facts)


def text(value: object) -> str:
    return msgspec.json.encode(value).decode()


def offset_record(offset: CommittedOffset | None) -> OffsetRecord:
    return OffsetRecord("orders", 2, offset, Reason.OFFSET_COMMIT)


def test_an_offset() -> None:
    record = offset_record(CommittedOffset(42, None, "", 1_000, None, None))

    value = (
        '{"version":4,"data":{"offset":42,"leaderEpoch":-1,"metadata":"","commitTimestamp":1000}}'
    )
    assert logged("g", record) == LoggedTexts(
        record_type=1,
        key=OFFSET_KEY,
        value=value,
        topic="orders",
        partition=2,
        member_id=None,
        offset=42,
    )


def test_an_offset_with_leader_epoch_and_topic_id() -> None:
    record = offset_record(CommittedOffset(42, 3, "note", 1_000, None, ORDERS_ID))

    assert logged("g", record).value == (
        '{"version":4,"data":{"offset":42,"leaderEpoch":3,"metadata":"note","commitTimestamp":1000,'
        f'"topicId":"{ORDERS_ID}"}}}}'
    )


def test_an_offset_with_an_expire_timestamp_has_nothing_that_came_later() -> None:
    record = offset_record(CommittedOffset(42, 3, "", 1_000, 6_000, ORDERS_ID))

    assert logged("g", record).value == (
        '{"version":1,"data":{"offset":42,"metadata":"","commitTimestamp":1000,"expireTimestamp":6000}}'
    )


def test_tombstones() -> None:
    gone = LoggedTexts(1, OFFSET_KEY, None, "orders", 2)
    assert logged("g", offset_record(None)) == gone

    dead = LoggedTexts(2, GROUP_KEY, None)
    assert logged("g", GroupRecord(None, Reason.GROUP_EXPIRED)) == dead


def test_an_empty_group() -> None:
    record = GroupRecord(GroupMetadata("", 0, None, None, 1_000, ()), Reason.JOIN)

    value = (
        '{"version":3,"data":{"protocolType":"","generation":0,"protocol":null,"leader":null,'
        '"currentStateTimestamp":1000,"members":[]}}'
    )
    assert logged("g", record) == LoggedTexts(2, GROUP_KEY, value)


def test_a_group_with_a_member() -> None:
    subscription = Protocol("range", encode_subscription(["orders"]), ("orders",))
    member = MemberMetadata(
        "m", None, "client", "/10.0.0.1", 20_000, 10_000, subscription, b"\x00\x01"
    )
    record = GroupRecord(
        GroupMetadata("consumer", 4, "range", "m", None, (member,)), Reason.MIRRORED
    )

    entry = logged("g", record)

    assert entry.value == (
        '{"version":3,"data":{"protocolType":"consumer","generation":4,"protocol":"range","leader":"m",'
        '"currentStateTimestamp":-1,"members":[{"memberId":"m","groupInstanceId":null,"clientId":"client",'
        '"clientHost":"/10.0.0.1","rebalanceTimeout":20000,"sessionTimeout":10000,'
        '"subscription":"AAAAAAABAAZvcmRlcnP/////","assignment":"AAE="}]}}'
    )
    assert record_decoder.decode(entry.key, entry.value) == record


def test_an_old_value_has_less() -> None:
    value = '{"version":0,"data":{"offset":42,"metadata":"","commitTimestamp":1000}}'

    offset = CommittedOffset(42, None, "", 1_000, None, None)
    assert record_decoder.decode(OFFSET_KEY, value) == OffsetRecord(
        "orders", 2, offset, Reason.MIRRORED
    )


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ('{"type":9,"data":{"group":"g"}}', None, "unknown record type 9"),
        ('{"type":1}', None, "Object missing required field `data`"),
        ("no JSON", None, "JSON is malformed"),
        (OFFSET_KEY, '{"version":4,"data":{"offset":"42"}}', r"Expected `int`, got `str` - at `\$"),
        (GROUP_KEY, '{"version":3,"data":{}}', "missing required field"),
    ],
)
def test_what_is_no_record_is_refused(key: str, value: str | None, reason: str) -> None:
    with pytest.raises(RecordError, match=reason):
        record_decoder.decode(key, value)


@given(strategies.records, strategies.names)
def test_a_record_comes_back_from_its_json(record: Record, group_id: str) -> None:
    entry = logged(group_id, record)

    assert "\n" not in entry.key + (entry.value or "")
    assert record_decoder.decode(entry.key, entry.value, record.reason) == record
