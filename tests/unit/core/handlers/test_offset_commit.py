from __future__ import annotations

import pytest

from group_coordinator.core.model.classic_member import ClassicState
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.records import OffsetRecord, Reason
from group_coordinator.core.model.requests import Topic
from group_coordinator.core.model.responses import (
    OffsetCommitResponse,
    PartitionResult,
    TopicResult,
)
from group_coordinator.testing import GroupDriver, Outcome
from tests.unit.core import requests
from tests.unit.core.consumer_groups import current, two_members_sharing_orders
from tests.unit.core.groups_in_every_state import state_of
from tests.unit.core.requests import at_offset

ORDERS = Topic("orders", "4ksO1bcLSgCStYJnTlCVLg", 2)


def error_of(outcome: Outcome[OffsetCommitResponse]) -> ErrorCode:
    (topic,) = outcome.response.topics
    (partition,) = topic.partitions
    return partition.error


def test_a_commit_without_a_group_makes_a_simple_one() -> None:
    driver = GroupDriver(start_ms=1_000)

    outcome = driver.commit({"orders": {0: 42, 1: 43}}, metadata="m")

    records = [
        OffsetRecord(
            "orders",
            partition,
            requests.committed_offset(offset, metadata="m"),
            Reason.OFFSET_COMMIT,
        )
        for partition, offset in ((0, 42), (1, 43))
    ]
    assert outcome.records == tuple(records)
    results = (PartitionResult(0, ErrorCode.NONE), PartitionResult(1, ErrorCode.NONE))
    assert outcome.response == OffsetCommitResponse((TopicResult("orders", None, results),))
    assert driver.describe().response.protocol_type == ""
    assert state_of(driver) is ClassicState.EMPTY


def test_version_1_may_give_its_own_commit_time() -> None:
    driver = GroupDriver(start_ms=1_000)

    driver.send(requests.commit(at_offset(1, commit_timestamp_ms=7)), 1)

    assert driver.group.offsets["orders"][0].commit_timestamp_ms == 7


@pytest.mark.parametrize(
    ("field", "reason"),
    [("is_reset", Reason.OFFSET_RESET), ("is_restore", Reason.OFFSET_RESTORED)],
)
def test_a_reset_is_a_commit_with_a_reason_of_its_own(field: str, reason: Reason) -> None:
    driver = GroupDriver()
    driver.commit({"orders": {0: 40}})

    outcome = driver.send(requests.commit(at_offset(5)).replace(**{field: True}), 8)

    assert error_of(outcome) is ErrorCode.NONE
    assert [record.reason for record in outcome.records] == [reason]
    assert driver.group.offsets["orders"][0].offset == 5


def test_where_no_topic_exists_the_group_is_not_even_asked() -> None:
    driver = GroupDriver()
    driver.learn_topics(ORDERS)

    assert error_of(driver.commit({"nowhere": {0: 1}}, "m", 1)) is (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    )


def test_a_member_commits_partitions_that_it_has_yet_to_give_back() -> None:
    driver = two_members_sharing_orders()
    ((topic_id, kept),) = current(driver, "m1").assigned.items()
    driver.consumers.beat("m1", topic_names=("bills",))
    assert current(driver, "m1").pending_revocation == {topic_id: kept}

    outcome = driver.commit({"orders": dict.fromkeys(kept, 1)}, "m1", 2, version=9)

    assert {p.error for topic in outcome.response.topics for p in topic.partitions} == {
        ErrorCode.NONE
    }
