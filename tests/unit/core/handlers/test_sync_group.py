from __future__ import annotations

from group_coordinator.core.embedded_protocol import encode_assignment
from group_coordinator.core.model.classic_member import ClassicState
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.records import GroupMetadata, GroupRecord, MemberMetadata, Reason
from group_coordinator.core.model.requests import SyncGroup
from group_coordinator.core.model.responses import SyncGroupResponse
from group_coordinator.testing import GroupDriver
from tests.unit.core.groups_in_every_state import state_of
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


def test_a_sync_replaces_the_one_that_waits() -> None:
    driver, leader, follower = joined()
    first = driver.sync(follower, 2)

    second = driver.sync(follower, 2)

    assert second.responses == {
        first.correlation_id: SyncGroupResponse(ErrorCode.REBALANCE_IN_PROGRESS)
    }
    driver.sync(leader, 2, {follower: {"orders": [0, 1]}})
    assert driver.response_to(second).assignment == ALL


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
