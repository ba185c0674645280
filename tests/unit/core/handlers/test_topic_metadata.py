from __future__ import annotations

import pytest

from group_coordinator.codecs import snapshots
from group_coordinator.core.model.classic_member import ClassicState
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.records import OffsetRecord, Reason
from group_coordinator.core.model.requests import Topic, TopicMetadata
from group_coordinator.testing import GroupDriver
from tests.unit.core.groups_in_every_state import state_of

ORDERS = Topic("orders", "4ksO1bcLSgCStYJnTlCVLg", 2)
ORDERS_ANEW = Topic("orders", "AAAAAAAAAAAAAAAAAAAAAQ", 2)
REFUNDS = Topic("refunds", "AAAAAAAAAAAAAAAAAAAAAg", 1)


def gone(topic: str, partition: int) -> OffsetRecord:
    return OffsetRecord(topic, partition, None, Reason.TOPIC_DELETED)


def test_what_a_group_knows_is_replaced() -> None:
    driver = GroupDriver()

    driver.learn_topics(ORDERS)
    assert driver.group.topics == {"orders": ORDERS}

    driver.learn_topics(REFUNDS)
    assert driver.group.topics == {"refunds": REFUNDS}


def test_who_was_told_of_all_topics_keeps_them_when_told_of_some() -> None:
    driver = GroupDriver()
    driver.learn_topics(ORDERS)

    driver.send(TopicMetadata("g", (), (), is_complete=False), 0)
    assert driver.group.topics == {"orders": ORDERS}

    driver.send(TopicMetadata("g", (REFUNDS,), (), is_complete=False), 0)
    assert driver.group.topics == {"orders": ORDERS, "refunds": REFUNDS}
    assert not driver.group.partition_exists("audit", 0)

    driver.send(TopicMetadata("g", (ORDERS_ANEW,), (), is_complete=False), 0)
    assert driver.group.topics == {"orders": ORDERS_ANEW, "refunds": REFUNDS}

    driver.send(TopicMetadata("g", (), (("refunds", REFUNDS.topic_id),), is_complete=False), 0)
    assert driver.group.topics == {"orders": ORDERS_ANEW}


def test_who_was_told_of_some_topics_knows_those_alone() -> None:
    driver = GroupDriver()

    driver.send(TopicMetadata("g", (ORDERS,), (), is_complete=False), 0)
    driver.send(TopicMetadata("g", (REFUNDS,), (), is_complete=False), 0)

    assert driver.group.topics == {"refunds": REFUNDS}
    assert driver.group.partition_exists("orders", 0)


def test_knowing_makes_no_group() -> None:
    driver = GroupDriver()

    assert driver.learn_topics(ORDERS).records == ()
    assert state_of(driver) is ClassicState.DEAD


def test_offsets_go_at_once_with_their_topic() -> None:
    driver = GroupDriver()
    driver.learn_topics(ORDERS, REFUNDS)
    driver.commit({"orders": {1: 1, 0: 1}, "refunds": {0: 1}})

    outcome = driver.learn_topics(deleted=[REFUNDS, ORDERS])

    assert outcome.records == (gone("orders", 0), gone("orders", 1), gone("refunds", 0))
    assert driver.group.offsets == {}


def test_what_was_told_is_remembered_for_the_retention_if_there_is_no_group() -> None:
    driver = GroupDriver(offsets_retention_ms=60_000)
    driver.learn_topics(ORDERS)
    assert driver.next_deadline_ms == 60_000

    driver.at(59_999)
    assert driver.group.topics == {"orders": ORDERS}
    assert driver.at(60_000).records == ()
    assert driver.group.topics is None
    assert driver.next_deadline_ms is None


@pytest.mark.parametrize("partition", [-1, 2])
def test_a_partition_outside_its_topic_does_not_exist(partition: int) -> None:
    driver = GroupDriver()
    assert driver.group.partition_exists("orders", partition)

    driver.send(TopicMetadata("g", (ORDERS,), ()), 0)

    assert not driver.group.partition_exists("orders", partition)
    assert driver.group.partition_exists("orders", 1)
    assert not driver.group.partition_exists("refunds", 0)


def test_a_new_group_learns_topics_from_its_first_heartbeat() -> None:
    driver = GroupDriver()

    answer = driver.consumers.join("m1", ["orders"], known_topics=(ORDERS,)).response

    assert (answer.error, answer.assignment) == (ErrorCode.NONE, {ORDERS.topic_id: (0, 1)})
    assert driver.group.topics == {"orders": ORDERS}
    assert driver.group.partition_exists("refunds", 0)
    driver.sleep(1)
    assert driver.learn_topics(ORDERS, REFUNDS).records == ()
    assert driver.consumers.beat("m1").records == ()


def test_a_group_that_was_told_of_topics_keeps_to_them() -> None:
    driver = GroupDriver()
    driver.learn_topics(ORDERS_ANEW)

    answer = driver.consumers.join("m1", ["orders"], known_topics=(ORDERS, REFUNDS)).response

    assert answer.assignment == {ORDERS_ANEW.topic_id: (0, 1)}
    assert driver.group.topics == {"orders": ORDERS_ANEW}


@pytest.mark.parametrize(
    ("refused", "error"),
    [
        ({"server_assignor": "unheard"}, ErrorCode.UNSUPPORTED_ASSIGNOR),
        ({"owned": None}, ErrorCode.INVALID_REQUEST),
    ],
)
def test_a_heartbeat_that_makes_no_group_teaches_nothing(
    refused: dict[str, object], error: ErrorCode
) -> None:
    driver = GroupDriver()

    answer = driver.consumers.join("m1", ["orders"], known_topics=(ORDERS,), **refused).response

    assert answer.error == error
    assert driver.group.topics is None
    assert driver.next_deadline_ms is None


def test_a_heartbeat_that_a_classic_group_rejects_teaches_nothing() -> None:
    driver = GroupDriver()
    driver.commit({"refunds": {0: 7}})

    rejected = driver.consumers.join("m1", ["refunds"], known_topics=(REFUNDS,), owned=None)
    joined = driver.consumers.join("m1", ["orders"], known_topics=(ORDERS,)).response

    assert rejected.response.error == ErrorCode.INVALID_REQUEST
    assert (joined.error, joined.assignment) == (ErrorCode.NONE, {ORDERS.topic_id: (0, 1)})


def test_a_classic_group_is_the_same_after_a_rejected_heartbeat() -> None:
    driver = GroupDriver()
    driver.commit({"refunds": {0: 7}})
    before = snapshots.dump(driver.group)

    driver.consumers.join("m1", ["refunds"], known_topics=(REFUNDS,), owned=None)

    assert snapshots.dump(driver.group) == before
