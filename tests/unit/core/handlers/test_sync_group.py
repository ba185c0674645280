from __future__ import annotations

import pytest

from group_coordinator.core.embedded_protocol import encode_assignment
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.records import GroupMetadata, GroupRecord, MemberMetadata, Reason
from group_coordinator.core.model.requests import SyncGroup
from group_coordinator.core.model.responses import SyncGroupResponse
from group_coordinator.core.model.states import ClassicState
from group_coordinator.testing import GroupDriver
from tests.unit.core import requests
from tests.unit.core.groups_in_every_state import stable, state_of
from tests.unit.core.requests import protocol

ALL = encode_assignment({"orders": [0, 1]})


def joined() -> tuple[GroupDriver, str, str]:
    """Leader and follower have generation 2 and no assignment."""
    driver = GroupDriver()
    leader, follower = driver.form(2)
    driver.join(leader)
    driver.join(follower)
    return driver, leader, follower


def test_the_leaders_assignment_is_logged_and_makes_the_group_stable() -> None:
    driver = GroupDriver()
    join = driver.join(version=3)
    driver.at(3_000)
    member_id = driver.response_to(join).member_id

    outcome = driver.sync(member_id, 1, {member_id: {"orders": [0, 1]}})

    member = MemberMetadata(
        member_id=member_id,
        group_instance_id=None,
        client_id="client",
        client_host="/127.0.0.1",
        rebalance_timeout_ms=60_000,
        session_timeout_ms=10_000,
        subscription=protocol(),
        assignment=ALL,
    )
    metadata = GroupMetadata(
        protocol_type="consumer",
        generation=1,
        protocol="range",
        leader=member_id,
        state_timestamp_ms=3_000,
        members=(member,),
    )
    assert outcome.records == (GroupRecord(metadata, Reason.SYNC),)
    assert outcome.response == SyncGroupResponse(ErrorCode.NONE, "consumer", "range", ALL)
    assert state_of(driver) is ClassicState.STABLE


def test_a_follower_waits_for_the_leader() -> None:
    driver, leader, follower = joined()

    sync = driver.sync(follower, 2)
    assert sync.is_parked
    assert sync.records == ()

    driver.sync(leader, 2, {follower: {"orders": [0, 1]}})
    assert driver.response_to(sync).assignment == ALL


def test_a_follower_after_the_leader_does_not_wait() -> None:
    driver, leader, follower = joined()
    driver.sync(leader, 2, {follower: {"orders": [0, 1]}})

    outcome = driver.sync(follower, 2)

    assert outcome.response == SyncGroupResponse(ErrorCode.NONE, "consumer", "range", ALL)
    assert outcome.records == ()


def test_who_is_left_out_gets_nothing_and_a_stranger_is_not_logged() -> None:
    driver, leader, follower = joined()

    outcome = driver.sync(leader, 2, {follower: {"orders": [0, 1]}, "nobody": {"orders": [2]}})

    assert outcome.response.assignment == b""
    (record,) = outcome.records
    assert isinstance(record, GroupRecord)
    assert record.value is not None
    assert {m.member_id: m.assignment for m in record.value.members} == {leader: b"", follower: ALL}


def test_a_followers_assignments_do_not_count() -> None:
    driver, leader, follower = joined()
    sync = driver.sync(follower, 2, {follower: {"orders": [0, 1]}})

    driver.sync(leader, 2)

    assert driver.response_to(sync).assignment == b""


def test_a_sync_replaces_the_one_that_waits() -> None:
    driver, leader, follower = joined()
    first = driver.sync(follower, 2)

    second = driver.sync(follower, 2)

    assert second.responses == {
        first.correlation_id: SyncGroupResponse(ErrorCode.REBALANCE_IN_PROGRESS)
    }
    driver.sync(leader, 2, {follower: {"orders": [0, 1]}})
    assert driver.response_to(second).assignment == ALL


def test_in_a_join_phase_there_is_nothing_to_sync() -> None:
    driver = GroupDriver()
    leader, follower = driver.form(2)
    driver.join(leader)

    assert driver.sync(follower, 1).response.error is ErrorCode.REBALANCE_IN_PROGRESS


def test_an_unknown_group_knows_no_member() -> None:
    outcome = GroupDriver().sync("somebody", 1)

    assert outcome.response == SyncGroupResponse(ErrorCode.UNKNOWN_MEMBER_ID)


def test_a_group_must_have_a_name() -> None:
    assert GroupDriver("").sync("m", 1).response.error is ErrorCode.INVALID_GROUP_ID


@pytest.mark.parametrize("generation", [-1, 0, 2])
def test_another_generation_is_illegal(generation: int) -> None:
    driver = GroupDriver()
    (member_id,) = driver.form()

    assert driver.sync(member_id, generation).response.error is ErrorCode.ILLEGAL_GENERATION


@pytest.mark.parametrize(
    ("member", "instance_id", "error"),
    [
        ("the static one", "i", ErrorCode.NONE),
        ("the static one", "unknown", ErrorCode.UNKNOWN_MEMBER_ID),
        ("another one", "i", ErrorCode.FENCED_INSTANCE_ID),
        ("nobody", None, ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_a_member_must_be_who_it_says(
    member: str, instance_id: str | None, error: ErrorCode
) -> None:
    driver = GroupDriver()
    _, follower, static_id = stable(driver, static="i")
    ids = {"the static one": static_id, "another one": follower, "nobody": "nobody"}

    outcome = driver.send(requests.sync(ids[member], 1, instance_id=instance_id), 5)

    assert outcome.response.error is error


@pytest.mark.parametrize(
    ("protocol_type", "name", "version", "error"),
    [
        ("consumer", "range", 5, ErrorCode.NONE),
        ("connect", "range", 5, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ("consumer", "sticky", 5, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        (None, "range", 5, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ("consumer", None, 5, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        (None, None, 4, ErrorCode.NONE),
    ],
)
def test_a_named_protocol_must_be_the_groups(
    protocol_type: str | None, name: str | None, version: int, error: ErrorCode
) -> None:
    driver = GroupDriver()
    (member_id,) = driver.form()
    request = requests.sync(member_id, 1, protocol_type=protocol_type, name=name)

    assert driver.send(request, version).response.error is error


def test_from_version_5_a_missing_protocol_is_noticed_before_anything_else() -> None:
    request = SyncGroup(
        group_id="",
        generation=1,
        member_id="m",
        group_instance_id=None,
        protocol_type=None,
        protocol=None,
        assignments=(),
    )

    response = GroupDriver("").send(request, 5).response

    assert response.error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
