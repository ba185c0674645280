from __future__ import annotations

import doctest

import pytest

from group_coordinator import testing
from group_coordinator.core.embedded_protocol import parse_assignment
from group_coordinator.core.model.classic_member import ClassicState
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.records import GroupRecord, OffsetRecord, Reason
from group_coordinator.core.model.requests import Topic
from group_coordinator.core.model.responses import MemberResult, PartitionResult
from group_coordinator.testing import GroupDriver, NotAnsweredError

ORDERS = Topic("orders", "4ksO1bcLSgCStYJnTlCVLg", 1)


def test_the_example_in_the_documentation() -> None:
    assert doctest.testmod(testing).failed == 0


def test_a_simple_group_lives_as_long_as_its_offsets() -> None:
    driver = GroupDriver(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)

    driver.commit({"orders": {0: 42}})

    assert driver.next_deadline_ms == 60_000
    assert driver.sleep(59_999).records == ()
    assert driver.sleep(1).records == (
        OffsetRecord("orders", 0, None, Reason.OFFSET_EXPIRED),
        GroupRecord(None, Reason.GROUP_EXPIRED),
    )
    assert driver.next_deadline_ms is None
    assert driver.delete_offsets({"orders": [0]}).response.error is ErrorCode.GROUP_ID_NOT_FOUND


def test_a_parked_request_is_answered_later() -> None:
    driver = GroupDriver()
    member_id = driver.join().response.member_id

    join = driver.join(member_id)
    assert join.is_parked
    with pytest.raises(NotAnsweredError, match=join.correlation_id):
        _ = join.response
    with pytest.raises(NotAnsweredError, match=join.correlation_id):
        driver.response_to(join)

    later = driver.sleep(3_000)
    assert later.responses[join.correlation_id].generation == 1
    assert driver.response_to(join).leader == member_id


def test_a_group_in_one_go() -> None:
    driver = GroupDriver()

    leader, *followers = driver.form(3)

    membership = driver.group.membership
    assert membership is not None
    assert membership.state is ClassicState.STABLE
    assert (membership.leader, sorted(membership.members)) == (leader, sorted([leader, *followers]))
    assert driver.heartbeat(leader, 1).response.error is ErrorCode.NONE
    assert driver.commit({"orders": {0: 1}}, leader, 1).response.topics[0].partitions == (
        PartitionResult(0, ErrorCode.NONE),
    )
    assert driver.delete_offsets({"orders": [0]}).response.topics[0].partitions == (
        PartitionResult(0, ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC),
    )
    assert driver.delete().response.error is ErrorCode.NON_EMPTY_GROUP
    assert driver.leave(leader, *followers).response.error is ErrorCode.NONE
    assert driver.describe().response.state == "Empty"
    assert driver.delete().response.error is ErrorCode.NONE


def test_a_leader_assigns() -> None:
    driver = GroupDriver()
    (member_id,) = driver.form()
    join = driver.join(member_id, topics=["payments"])
    generation = driver.response_to(join).generation or 0

    answer = driver.sync(member_id, generation, {member_id: {"payments": [0, 1]}}).response

    assert parse_assignment(answer.assignment) == (("payments", (0, 1)),)
    assert driver.describe().response.members[0].assignment == answer.assignment


def test_a_static_member_is_removed_by_its_instance_id() -> None:
    driver = GroupDriver()
    join = driver.join(instance_id="i")
    driver.sleep(3_000)
    assert driver.response_to(join).error is ErrorCode.NONE

    results = driver.leave(instance_id="i").response.members
    assert results == (MemberResult("", "i", ErrorCode.NONE),)


def test_topics_can_be_told() -> None:
    driver = GroupDriver()
    driver.learn_topics(ORDERS)
    assert driver.commit({"nowhere": {0: 1}, "orders": {0: 1}}).records[0].topic == "orders"

    assert driver.learn_topics(deleted=[ORDERS]).records == (
        OffsetRecord("orders", 0, None, Reason.TOPIC_DELETED),
    )
    assert driver.fetch().response.topics == ()


def test_the_log_rebuilds_the_group() -> None:
    driver = GroupDriver()
    members = driver.form(2)
    driver.commit({"orders": {0: 1, 1: 2}}, members[0], 1)
    driver.delete_offsets({"payments": [0]})

    rebuilt = driver.rebuilt()

    assert rebuilt.offsets == driver.group.offsets
    assert rebuilt.membership is not None
    assert rebuilt.membership.state is ClassicState.STABLE
    assert sorted(rebuilt.membership.members) == sorted(members)


def test_time_never_goes_back() -> None:
    driver = GroupDriver(start_ms=1_000)

    with pytest.raises(ValueError, match="time never goes back: 999 < 1000"):
        driver.at(999)


def test_settings_have_kafkas_names() -> None:
    assert GroupDriver(group_max_size=2).config.group_max_size == 2
    with pytest.raises(TypeError, match="group_maximum"):
        GroupDriver(group_maximum=2)
