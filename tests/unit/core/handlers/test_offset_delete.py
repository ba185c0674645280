from __future__ import annotations

import pytest

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.records import OffsetRecord, Reason
from group_coordinator.core.model.responses import (
    OffsetDeleteResponse,
    PartitionResult,
    TopicResult,
)
from group_coordinator.core.model.topic import Topic
from group_coordinator.testing import GroupDriver
from tests.unit.core import requests
from tests.unit.core.groups_in_every_state import membership_of

NONE, SUBSCRIBED = ErrorCode.NONE, ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC


def gone(topic: str, partition: int) -> OffsetRecord:
    return OffsetRecord(topic, partition, None, Reason.OFFSET_DELETED)


def result(topic: str, error: ErrorCode, *partitions: int) -> TopicResult:
    return TopicResult(topic, None, tuple(PartitionResult(p, error) for p in partitions))


def test_offsets_of_a_simple_group_are_deleted() -> None:
    driver = GroupDriver()
    driver.commit({"orders": {0: 1, 1: 2}, "refunds": {0: 3}})

    outcome = driver.delete_offsets({"orders": [1, 0], "refunds": [0]})

    assert outcome.records == (gone("orders", 1), gone("orders", 0), gone("refunds", 0))
    assert outcome.response == OffsetDeleteResponse(
        NONE, (result("orders", NONE, 1, 0), result("refunds", NONE, 0))
    )
    assert driver.group.offsets == {}


def test_what_was_never_committed_is_no_error_and_no_record() -> None:
    driver = GroupDriver()
    driver.commit({"orders": {0: 1}})

    outcome = driver.delete_offsets({"orders": [7], "nowhere": [0]})

    assert outcome.records == ()
    assert outcome.response.topics == (result("orders", NONE, 7), result("nowhere", NONE, 0))


def test_a_live_group_keeps_the_offsets_of_its_topics() -> None:
    driver = GroupDriver()
    (member_id,) = driver.form(topics=["orders"])
    driver.commit({"orders": {0: 1}, "refunds": {0: 2}}, member_id, 1)

    outcome = driver.delete_offsets({"orders": [0], "refunds": [0]})

    assert outcome.records == (gone("refunds", 0),)
    assert outcome.response == OffsetDeleteResponse(
        NONE, (result("orders", SUBSCRIBED, 0), result("refunds", NONE, 0))
    )


def test_who_unsubscribes_frees_the_offsets() -> None:
    driver = GroupDriver()
    (member_id,) = driver.form(topics=["orders", "refunds"])
    driver.commit({"refunds": {0: 2}}, member_id, 1)
    assert driver.delete_offsets({"refunds": [0]}).response.topics == (
        result("refunds", SUBSCRIBED, 0),
    )

    driver.join(member_id, topics=["orders"])

    assert driver.delete_offsets({"refunds": [0]}).records == (gone("refunds", 0),)


def test_during_a_rebalance_the_last_subscriptions_count() -> None:
    driver = GroupDriver()
    leader, _ = driver.form(2, topics=["orders"])
    driver.commit({"refunds": {0: 2}}, leader, 1)
    driver.join(leader, topics=["refunds"])

    assert driver.delete_offsets({"orders": [0], "refunds": [0]}).response.topics == (
        result("orders", SUBSCRIBED, 0),
        result("refunds", NONE, 0),
    )


def test_the_first_rebalance_knows_no_subscriptions_and_protects_all() -> None:
    driver = GroupDriver()
    driver.commit({"refunds": {0: 2}})
    driver.join(version=3)

    assert driver.delete_offsets({"refunds": [0]}).response.topics == (
        result("refunds", SUBSCRIBED, 0),
    )


def test_an_unreadable_subscription_protects_all() -> None:
    driver = GroupDriver()
    driver.send(requests.join("", requests.unreadable()), 3)
    driver.at(3_000)
    assert membership_of(driver).subscribed_topics is None

    assert driver.delete_offsets({"refunds": [0]}).response.topics == (
        result("refunds", SUBSCRIBED, 0),
    )


def test_once_all_have_left_nothing_is_protected() -> None:
    driver = GroupDriver()
    (member_id,) = driver.form()
    driver.commit({"orders": {0: 1}}, member_id, 1)
    driver.leave(member_id)

    assert driver.delete_offsets({"orders": [0]}).records == (gone("orders", 0),)


def test_a_live_group_of_others_than_consumers_is_refused() -> None:
    driver = GroupDriver()
    driver.send(requests.join(protocol_type="connect"), 3)

    outcome = driver.delete_offsets({"orders": [0]})

    assert outcome.response == OffsetDeleteResponse(ErrorCode.NON_EMPTY_GROUP)


def test_an_empty_group_of_others_than_consumers_is_not() -> None:
    driver = GroupDriver()
    join = driver.send(requests.join(protocol_type="connect"), 3)
    driver.at(3_000)
    driver.leave(driver.response_to(join).member_id)
    driver.commit({"orders": {0: 1}})

    assert driver.delete_offsets({"orders": [0]}).records == (gone("orders", 0),)


def test_where_topics_are_known_they_must_exist() -> None:
    driver = GroupDriver()
    driver.commit({"orders": {0: 1, 2: 1}})
    driver.learn_topics(Topic("orders", "4ksO1bcLSgCStYJnTlCVLg", 2))

    outcome = driver.delete_offsets({"nowhere": [0], "orders": [0, 1, 2]})

    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert outcome.response.topics == (
        result("nowhere", unknown, 0),
        TopicResult(
            "orders",
            None,
            (PartitionResult(2, unknown), PartitionResult(0, NONE), PartitionResult(1, NONE)),
        ),
    )
    assert outcome.records == (gone("orders", 0),)


def test_a_topic_without_partitions_is_in_the_response_only_if_it_does_not_exist() -> None:
    driver = GroupDriver()
    driver.commit({"orders": {0: 1}})
    driver.learn_topics(Topic("orders", "4ksO1bcLSgCStYJnTlCVLg", 2))

    outcome = driver.delete_offsets({"nowhere": [], "orders": []})

    assert outcome.response.topics == (TopicResult("nowhere", None, ()),)


@pytest.mark.parametrize(
    ("group_id", "error"),
    [("g", ErrorCode.GROUP_ID_NOT_FOUND), ("", ErrorCode.INVALID_GROUP_ID)],
)
def test_there_must_be_a_group(group_id: str, error: ErrorCode) -> None:
    outcome = GroupDriver(group_id).delete_offsets({"orders": [0]})

    assert outcome.response == OffsetDeleteResponse(error)
