"""KIP-98 and KIP-447: offsets that count when their transaction is committed."""

from __future__ import annotations

import pytest

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.offset import CommittedOffset
from group_coordinator.core.model.records import (
    GroupRecord,
    OffsetRecord,
    Reason,
    TransactionMarker,
)
from group_coordinator.core.model.requests import (
    EndTxn,
    OffsetFetch,
    TopicCommit,
    TopicPartitions,
    TxnOffsetCommit,
)
from group_coordinator.core.model.responses import (
    EndTxnResponse,
    FetchedPartition,
    PartitionResult,
    TopicResult,
    TxnOffsetCommitResponse,
)
from group_coordinator.core.model.states import ClassicState
from group_coordinator.core.model.topic import Topic
from group_coordinator.testing import GroupDriver, Outcome
from tests.unit.core import groups_in_every_state, requests
from tests.unit.core.groups_in_every_state import state_of

ORDERS = Topic("orders", "4ksO1bcLSgCStYJnTlCVLg", 2)


def pend(driver: GroupDriver, offset: int, *, producer: int = 17, partition: int = 0) -> None:
    entry = requests.at_offset(offset, partition)
    driver.send(
        TxnOffsetCommit(
            group_id="g",
            producer_id=producer,
            generation=None,
            member_id="",
            group_instance_id=None,
            topics=topics_of(entry),
        ),
        3,
    )


def topics_of(entry: requests.PartitionCommit) -> tuple[requests.TopicCommit, ...]:
    return requests.commit(entry).topics


def end(
    driver: GroupDriver, *, producer: int = 17, is_commit: bool = True
) -> Outcome[EndTxnResponse]:
    return driver.send(EndTxn(group_id="g", producer_id=producer, is_commit=is_commit), 0)


def stable_fetch(driver: GroupDriver, *partitions: int) -> tuple[FetchedPartition, ...]:
    asked = (TopicPartitions("orders", None, partitions),)
    answer = driver.send(OffsetFetch("g", None, None, asked, require_stable=True), 7).response
    fetched: tuple[FetchedPartition, ...] = answer.topics[0].partitions
    return fetched


def committed(driver: GroupDriver) -> dict[int, int]:
    return {p: offset.offset for p, offset in driver.group.offsets.get("orders", {}).items()}


def test_an_offset_waits_for_the_marker() -> None:
    driver = GroupDriver(start_ms=1_000)
    entry = requests.at_offset(42, leader_epoch=5, metadata="note")

    outcome = driver.send(
        TxnOffsetCommit(
            group_id="g",
            producer_id=17,
            generation=None,
            member_id="",
            group_instance_id=None,
            topics=topics_of(entry),
        ),
        3,
    )

    offset = CommittedOffset(
        offset=42,
        leader_epoch=5,
        metadata="note",
        commit_timestamp_ms=1_000,
        expire_timestamp_ms=None,
        topic_id=None,
    )
    result = TopicResult("orders", None, (PartitionResult(0, ErrorCode.NONE),))
    assert outcome.response == TxnOffsetCommitResponse((result,))
    assert outcome.records == (OffsetRecord("orders", 0, offset, Reason.OFFSET_COMMIT, 17),)
    assert committed(driver) == {}

    ended = end(driver)

    marker = TransactionMarker(17, (("orders", 0, offset),), Reason.TRANSACTION_COMMITTED)
    assert ended.response == EndTxnResponse(ErrorCode.NONE)
    assert ended.records == (marker,)
    assert driver.group.offsets == {"orders": {0: offset}}
    assert driver.group.pending == {}


def test_an_abort_drops_what_waits() -> None:
    driver = GroupDriver()
    driver.commit({"orders": {0: 1}})
    pend(driver, 2)

    ended = end(driver, is_commit=False)

    assert ended.records == (TransactionMarker(17, (), Reason.TRANSACTION_ABORTED),)
    assert committed(driver) == {0: 1}
    assert driver.group.pending == {}


def test_a_stable_fetch_tells_that_an_offset_is_on_its_way() -> None:
    driver = GroupDriver()
    driver.commit({"orders": {0: 1, 1: 1}})
    pend(driver, 2)

    unstable = FetchedPartition(0, error=ErrorCode.UNSTABLE_OFFSET_COMMIT)
    assert stable_fetch(driver, 0, 1) == (unstable, FetchedPartition(1, 1))
    assert driver.fetch({"orders": [0]}).response.topics[0].partitions == (FetchedPartition(0, 1),)
    end(driver)
    assert stable_fetch(driver, 0) == (FetchedPartition(0, 2),)


@pytest.mark.parametrize(("first", "last"), [(1, 2), (2, 1)])
def test_of_two_producers_the_later_commit_stays(first: int, last: int) -> None:
    driver = GroupDriver()
    pend(driver, 10, producer=1)
    pend(driver, 20, producer=2)

    end(driver, producer=first)
    end(driver, producer=last)

    assert committed(driver) == {0: 20}


def test_a_plain_commit_behind_it_stays() -> None:
    driver = GroupDriver()
    pend(driver, 10)
    driver.commit({"orders": {0: 11}})

    assert end(driver).records[0].offsets == ()
    assert committed(driver) == {0: 11}


def test_a_producer_means_its_last_commit() -> None:
    driver = GroupDriver()
    pend(driver, 10, producer=1)
    pend(driver, 20, producer=2)
    pend(driver, 30, producer=1)

    end(driver, producer=1)
    end(driver, producer=2)

    assert committed(driver) == {0: 30}


def test_a_marker_for_nobody_changes_nothing() -> None:
    driver = GroupDriver()

    assert end(driver).records == (TransactionMarker(17, (), Reason.TRANSACTION_COMMITTED),)
    assert driver.group.membership is None


def test_nothing_expires_under_an_open_transaction() -> None:
    driver = GroupDriver(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)
    driver.commit({"orders": {0: 1}})
    pend(driver, 2)
    assert driver.next_deadline_ms is None

    driver.at(120_000)
    end(driver, is_commit=False)
    assert driver.next_deadline_ms == 121_000
    driver.at(121_000)
    assert state_of(driver) is ClassicState.DEAD


def test_an_open_transaction_keeps_the_group_that_lost_its_last_offset() -> None:
    driver = GroupDriver(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)
    driver.commit({"orders": {0: 1}})
    pend(driver, 2, partition=1)

    assert driver.at(60_000).records == (OffsetRecord("orders", 0, None, Reason.OFFSET_EXPIRED),)
    assert state_of(driver) is ClassicState.EMPTY
    end(driver, is_commit=False)
    assert driver.at(61_000).records == (GroupRecord(None, Reason.GROUP_EXPIRED),)


def test_a_deleted_offset_takes_what_waits_for_it() -> None:
    driver = GroupDriver()
    pend(driver, 1)
    assert driver.delete_offsets({"orders": [0, 1]}).records == (
        OffsetRecord("orders", 0, None, Reason.OFFSET_DELETED),
    )
    end(driver)
    assert committed(driver) == {}


def test_a_deleted_group_takes_all_that_waits() -> None:
    driver = GroupDriver()
    driver.commit({"orders": {0: 1}})
    pend(driver, 2)
    pend(driver, 2, partition=1)

    tombstones = driver.delete().records[:-1]

    assert [(record.topic, record.partition) for record in tombstones] == [
        ("orders", 0),
        ("orders", 1),
    ]
    assert driver.group.pending == {}


def test_a_partition_that_does_not_exist() -> None:
    driver = GroupDriver()
    driver.learn_topics(ORDERS)
    entry = requests.at_offset(1, 2)

    outcome = driver.send(
        TxnOffsetCommit(
            group_id="g",
            producer_id=17,
            generation=None,
            member_id="",
            group_instance_id=None,
            topics=topics_of(entry),
        ),
        3,
    )

    [result] = outcome.response.topics[0].partitions
    assert result.error is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert driver.group.membership is None


@pytest.mark.parametrize("version", [3, 6])
def test_the_id_of_the_topic_is_stored_whether_it_or_the_name_was_said(version: int) -> None:
    driver = GroupDriver()
    driver.learn_topics(ORDERS)
    name, topic_id = ("orders", None) if version < 6 else (None, ORDERS.topic_id)
    topic = TopicCommit(name, topic_id, (requests.at_offset(1),))

    outcome = driver.send(
        TxnOffsetCommit(
            group_id="g",
            producer_id=17,
            generation=None,
            member_id="",
            group_instance_id=None,
            topics=(topic,),
        ),
        version,
    )
    end(driver)

    result = TopicResult("orders", ORDERS.topic_id, (PartitionResult(0, ErrorCode.NONE),))
    assert outcome.response == TxnOffsetCommitResponse((result,))
    assert driver.group.offsets["orders"][0].topic_id == ORDERS.topic_id


def test_an_id_of_no_topic() -> None:
    driver = GroupDriver()
    topic = TopicCommit(None, ORDERS.topic_id, (requests.at_offset(1),))

    outcome = driver.send(
        TxnOffsetCommit(
            group_id="g",
            producer_id=17,
            generation=None,
            member_id="",
            group_instance_id=None,
            topics=(topic,),
        ),
        6,
    )

    refused = (PartitionResult(0, ErrorCode.UNKNOWN_TOPIC_ID),)
    assert outcome.response.topics == (TopicResult(None, ORDERS.topic_id, refused),)
    assert outcome.records == ()
    assert driver.group.membership is None


@pytest.mark.parametrize(
    ("member_id", "generation", "error"),
    [
        ("", None, ErrorCode.NONE),
        ("m", None, ErrorCode.UNKNOWN_MEMBER_ID),
        ("member", None, ErrorCode.ILLEGAL_GENERATION),
        ("member", 1, ErrorCode.NONE),
        ("member", 2, ErrorCode.ILLEGAL_GENERATION),
        ("", 1, ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_who_may_commit_to_a_stable_group(
    member_id: str, generation: int | None, error: ErrorCode
) -> None:
    driver, members = groups_in_every_state.stable_group()
    sender = members[0] if member_id == "member" else member_id
    topics = topics_of(requests.at_offset(1))

    outcome = driver.send(
        TxnOffsetCommit(
            group_id="g",
            producer_id=17,
            generation=generation,
            member_id=sender,
            group_instance_id=None,
            topics=topics,
        ),
        3,
    )

    assert outcome.response.topics[0].partitions == (PartitionResult(0, error),)


@pytest.mark.parametrize(
    ("version", "error"),
    [
        (3, ErrorCode.ILLEGAL_GENERATION),
        (5, ErrorCode.ILLEGAL_GENERATION),
        (6, ErrorCode.GROUP_ID_NOT_FOUND),
    ],
)
def test_an_unknown_group_has_no_generation(version: int, error: ErrorCode) -> None:
    driver = GroupDriver()
    driver.learn_topics(ORDERS)
    topic = TopicCommit("orders", ORDERS.topic_id, (requests.at_offset(1),))

    outcome = driver.send(
        TxnOffsetCommit(
            group_id="g",
            producer_id=17,
            generation=0,
            member_id="m",
            group_instance_id=None,
            topics=(topic,),
        ),
        version,
    )

    assert outcome.response.topics[0].partitions == (PartitionResult(0, error),)
    assert outcome.records == ()
