"""Keys and values here were compared with what Kafka's own converters print."""

from __future__ import annotations

from group_coordinator.codecs.records import log_entry
from group_coordinator.core.model.records import OffsetRecord, Reason
from group_coordinator.core.model.topic_offsets import CommittedOffset
from tests.unit.codecs.offsets_topic.cases import EXPIRING, KNOWN, ORDERS_ID, PLAIN
from tests.unit.codecs.records.logged_texts import OFFSET_KEY, LoggedTexts, logged


def offset_record(offset: CommittedOffset | None) -> OffsetRecord:
    return OffsetRecord("orders", 2, offset, Reason.OFFSET_COMMIT)


def test_an_offset() -> None:
    value = (
        '{"version":4,"data":{"offset":42,"leaderEpoch":-1,"metadata":"","commitTimestamp":1000}}'
    )
    assert logged("g", offset_record(PLAIN)) == LoggedTexts(
        record_type=1,
        key=OFFSET_KEY,
        value=value,
        topic="orders",
        partition=2,
        member_id=None,
        offset=42,
    )


def test_an_offset_with_leader_epoch_and_topic_id() -> None:
    assert logged("g", offset_record(KNOWN)).value == (
        '{"version":4,"data":{"offset":42,"leaderEpoch":3,"metadata":"note","commitTimestamp":1000,'
        f'"topicId":"{ORDERS_ID}"}}}}'
    )


def test_an_offset_with_an_expire_timestamp_has_nothing_that_came_later() -> None:
    assert logged("g", offset_record(EXPIRING.replace(metadata=""))).value == (
        '{"version":1,"data":{"offset":42,"metadata":"","commitTimestamp":1000,"expireTimestamp":6000}}'
    )


def test_an_offset_of_a_transaction_has_its_producer_and_where_the_markers_ended() -> None:
    record = OffsetRecord("orders", 2, PLAIN, Reason.OFFSET_COMMIT, 17, 4_711, 3)

    assert logged("g", record).value == (
        '{"version":4,"data":{"offset":42,"leaderEpoch":-1,"metadata":"","commitTimestamp":1000},'
        '"producerId":17,"markersEndOffset":4711,"producerEpoch":3}'
    )


def test_a_tombstone() -> None:
    gone = LoggedTexts(1, OFFSET_KEY, None, "orders", 2)
    assert logged("g", offset_record(None)) == gone


def test_an_old_value_has_less() -> None:
    value = '{"version":0,"data":{"offset":42,"metadata":"","commitTimestamp":1000}}'

    read = log_entry.decode(OFFSET_KEY, value)
    assert read == OffsetRecord("orders", 2, PLAIN, Reason.MIRRORED)
