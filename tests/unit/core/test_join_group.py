from __future__ import annotations

import pytest

from group_coordinator.core.errors import ErrorCode
from group_coordinator.core.group import session_timer
from group_coordinator.core.records import GroupMetadata, GroupRecord, Reason
from group_coordinator.core.responses import JoinedMember, JoinGroupResponse
from group_coordinator.core.states import ClassicState
from group_coordinator.testing import GroupDriver
from tests.unit.core import messages
from tests.unit.core.messages import protocol
from tests.unit.core.situations import membership_of, stable, state_of


def test_the_first_join_creates_the_group_and_gives_out_an_id() -> None:
    driver = GroupDriver()

    outcome = driver.join()

    created = GroupMetadata("", 0, None, None, 0, ())
    assert outcome.records == (GroupRecord(created, Reason.JOIN),)
    assert outcome.response.error is ErrorCode.MEMBER_ID_REQUIRED
    assert outcome.response.member_id.startswith("client-")
    assert state_of(driver) is ClassicState.EMPTY


def test_the_id_is_the_way_in() -> None:
    driver = GroupDriver()
    member_id = driver.join().response.member_id

    join = driver.join(member_id)
    assert join.is_parked
    assert join.records == ()
    assert state_of(driver) is ClassicState.PREPARING_REBALANCE

    driver.at(3_000)
    assert driver.response_to(join) == JoinGroupResponse(
        ErrorCode.NONE,
        member_id,
        generation=1,
        protocol_type="consumer",
        protocol="range",
        leader=member_id,
        members=(JoinedMember(member_id, None, protocol().metadata),),
    )


def test_two_ids_are_never_the_same() -> None:
    driver = GroupDriver()

    assert driver.join().response.member_id != driver.join().response.member_id


def test_before_version_4_nobody_asks_for_an_id() -> None:
    driver = GroupDriver()

    join = driver.join(version=3)

    assert join.is_parked
    assert driver.join(version=4).response.error is ErrorCode.MEMBER_ID_REQUIRED
    driver.leave(*membership_of(driver).pending_joins)
    driver.at(3_000)
    assert driver.response_to(join).error is ErrorCode.NONE
    assert driver.response_to(join).member_id.startswith("client-")


def test_a_group_must_have_a_name() -> None:
    outcome = GroupDriver("").join()

    assert outcome.response.error is ErrorCode.INVALID_GROUP_ID
    assert outcome.records == ()


@pytest.mark.parametrize(
    ("session_timeout_ms", "error"),
    [
        (5_999, ErrorCode.INVALID_SESSION_TIMEOUT),
        (6_000, ErrorCode.MEMBER_ID_REQUIRED),
        (1_800_000, ErrorCode.MEMBER_ID_REQUIRED),
        (1_800_001, ErrorCode.INVALID_SESSION_TIMEOUT),
    ],
)
def test_session_timeouts_have_bounds(session_timeout_ms: int, error: ErrorCode) -> None:
    driver = GroupDriver()

    assert driver.join(session_timeout_ms=session_timeout_ms).response.error is error


def test_an_unknown_group_knows_no_member() -> None:
    driver = GroupDriver()

    outcome = driver.join("somebody")

    assert outcome.response == JoinGroupResponse(ErrorCode.UNKNOWN_MEMBER_ID, "somebody")
    assert outcome.records == ()
    assert state_of(driver) is ClassicState.DEAD


@pytest.mark.parametrize("protocol_type", ["", "consumer"])
def test_a_first_join_without_protocols_is_refused_but_creates_the_group(
    protocol_type: str,
) -> None:
    driver = GroupDriver()
    request = messages.join(protocol_type=protocol_type).replace(protocols=())

    outcome = driver.send(request, 9)

    assert outcome.response.error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert outcome.records == (GroupRecord(GroupMetadata("", 0, None, None, 0, ()), Reason.JOIN),)
    assert state_of(driver) is ClassicState.EMPTY


def test_a_simple_group_becomes_a_real_one_and_keeps_its_offsets() -> None:
    driver = GroupDriver()
    driver.commit({"orders": {0: 42}})

    assert driver.join(version=3).records == ()
    driver.at(3_000)

    assert state_of(driver) is ClassicState.COMPLETING_REBALANCE
    assert driver.group.offsets["orders"][0].offset == 42


def test_a_pending_member_cannot_become_a_static_one() -> None:
    driver = GroupDriver()
    member_id = driver.join().response.member_id

    outcome = driver.join(member_id, instance_id="i")

    assert outcome.response == JoinGroupResponse(ErrorCode.UNKNOWN_SERVER_ERROR, "")
    assert driver.join(member_id).is_parked


def test_a_newcomer_makes_a_stable_group_rebalance() -> None:
    driver = GroupDriver()
    (member_id,) = driver.form()

    newcomer = driver.join(version=3)

    assert newcomer.is_parked
    assert state_of(driver) is ClassicState.PREPARING_REBALANCE
    outcome = driver.join(member_id)
    assert outcome.response.generation == 2
    assert outcome.response.leader == member_id
    assert len(outcome.response.members) == 2
    assert driver.response_to(newcomer).generation == 2
    assert driver.response_to(newcomer).members == ()


def test_nothing_happens_until_a_pending_member_comes() -> None:
    driver = GroupDriver()
    (member_id,) = driver.form()

    newcomer_id = driver.join().response.member_id
    assert state_of(driver) is ClassicState.STABLE

    assert driver.join(newcomer_id).is_parked
    assert driver.join(member_id).response.generation == 2


def test_a_leader_that_joins_again_makes_all_rebalance() -> None:
    driver = GroupDriver()
    leader, follower = driver.form(2)

    assert driver.join(leader).is_parked

    assert driver.heartbeat(follower, 1).response.error is ErrorCode.REBALANCE_IN_PROGRESS
    assert driver.join(follower).response.generation == 2


def test_a_follower_that_joins_again_unchanged_hears_of_its_generation() -> None:
    driver = GroupDriver()
    leader, follower = driver.form(2)

    outcome = driver.join(follower)

    assert outcome.response == JoinGroupResponse(
        ErrorCode.NONE, follower, 1, "consumer", "range", leader
    )
    assert state_of(driver) is ClassicState.STABLE


def test_a_follower_with_another_subscription_makes_all_rebalance() -> None:
    driver = GroupDriver()
    leader, follower = driver.form(2)

    assert driver.join(follower, topics=["payments"]).is_parked

    driver.join(leader)
    assert membership_of(driver).subscribed_topics == {"orders", "payments"}


def test_joining_again_while_the_leader_assigns_changes_nothing() -> None:
    driver = GroupDriver()
    leader, follower = driver.form(2)
    driver.join(leader)
    driver.join(follower)

    assert driver.join(follower).response.members == ()
    assert [member.member_id for member in driver.join(leader).response.members] == sorted(
        [leader, follower]
    )
    assert state_of(driver) is ClassicState.COMPLETING_REBALANCE


def test_a_change_while_the_leader_assigns_begins_again() -> None:
    driver = GroupDriver()
    leader, follower = driver.form(2)
    driver.join(leader)
    driver.join(follower)
    sync = driver.sync(follower, 2)

    outcome = driver.join(leader, topics=["payments"])

    assert outcome.is_parked
    assert outcome.responses[sync.correlation_id].error is ErrorCode.REBALANCE_IN_PROGRESS
    assert driver.join(follower).response.generation == 3


def test_a_join_replaces_the_one_that_waits() -> None:
    driver = GroupDriver()
    leader, follower = driver.form(2)
    first = driver.join(leader)

    second = driver.join(leader, topics=["payments"])

    assert second.responses[first.correlation_id] == JoinGroupResponse(
        ErrorCode.REBALANCE_IN_PROGRESS, leader
    )
    driver.join(follower)
    assert driver.response_to(second).generation == 2
    assert membership_of(driver).subscribed_topics == {"orders", "payments"}


def test_a_member_that_left_is_unknown() -> None:
    driver = GroupDriver()
    (member_id,) = driver.form()
    driver.leave(member_id)

    assert driver.join(member_id).response.error is ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize(
    ("protocol_type", "name"), [("connect", "range"), ("consumer", "sticky"), ("", "range")]
)
def test_a_newcomer_must_share_a_protocol_with_all(protocol_type: str, name: str) -> None:
    driver = GroupDriver()
    driver.form()

    outcome = driver.send(messages.join("", protocol(name), protocol_type=protocol_type), 9)

    assert outcome.response.error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert state_of(driver) is ClassicState.STABLE


@pytest.mark.parametrize(
    ("protocol_type", "error"),
    [
        ("consumer", ErrorCode.MEMBER_ID_REQUIRED),
        ("connect", ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
    ],
)
def test_when_all_left_during_the_initial_delay_the_protocol_type_stays(
    protocol_type: str, error: ErrorCode
) -> None:
    driver = GroupDriver()
    driver.join(instance_id="i")
    driver.leave(instance_id="i")
    assert state_of(driver) is ClassicState.PREPARING_REBALANCE

    outcome = driver.send(messages.join("", protocol("any"), protocol_type=protocol_type), 9)

    assert outcome.response.error is error


def test_an_empty_group_may_change_its_protocol_type() -> None:
    driver = GroupDriver()
    driver.leave(*driver.form())

    driver.send(messages.join(protocol_type="connect"), 3)
    driver.sleep(3_000)

    assert membership_of(driver).protocol_type == "connect"
    assert membership_of(driver).subscribed_topics is None


def test_the_majority_chooses_the_protocol() -> None:
    driver = GroupDriver()
    for names in (("range", "sticky"), ("sticky", "range"), ("sticky", "range")):
        driver.send(messages.join("", *map(protocol, names)), 3)

    driver.at(6_000)

    assert membership_of(driver).protocol == "sticky"


def test_a_tied_vote_goes_by_name() -> None:
    driver = GroupDriver()
    for names in (("sticky", "range"), ("range", "sticky")):
        driver.send(messages.join("", *map(protocol, names)), 3)

    driver.at(6_000)

    assert membership_of(driver).protocol == "range"


def test_only_what_all_have_can_be_chosen() -> None:
    driver = GroupDriver()
    for names in (("sticky", "range"), ("sticky", "range"), ("range",)):
        driver.send(messages.join("", *map(protocol, names)), 3)

    driver.at(6_000)

    assert membership_of(driver).protocol == "range"


def test_a_full_group_takes_no_newcomer() -> None:
    driver = GroupDriver(group_max_size=2)
    leader, _ = driver.form(2)

    outcome = driver.join()

    assert outcome.response == JoinGroupResponse(ErrorCode.GROUP_MAX_SIZE_REACHED, "")
    assert driver.join(leader).is_parked


@pytest.mark.parametrize("instance_id", [None, "i"])
@pytest.mark.parametrize(("members", "has_room"), [(1, True), (2, True), (3, False)])
def test_a_group_has_room_up_to_its_size(
    members: int, instance_id: str | None, *, has_room: bool
) -> None:
    driver = GroupDriver(group_max_size=3)
    driver.form(members)

    newcomer = driver.join(instance_id=instance_id, version=3)

    assert newcomer.is_parked is has_room
    if not has_room:
        assert newcomer.response == JoinGroupResponse(ErrorCode.GROUP_MAX_SIZE_REACHED, "")
        assert len(membership_of(driver).members) == 3


def test_in_a_join_phase_the_last_to_come_is_turned_away() -> None:
    driver = GroupDriver(group_max_size=2)
    leader, follower = driver.form(2)
    driver.join(leader)
    newcomer = driver.join(version=3)

    outcome = driver.join(follower)

    assert outcome.response == JoinGroupResponse(ErrorCode.GROUP_MAX_SIZE_REACHED, "")
    assert follower not in membership_of(driver).members
    assert driver.join(leader).response.generation == 2, "who waits already has its place"
    assert driver.response_to(newcomer).generation == 2


# Static members (KIP-345).


def test_a_static_member_needs_no_id_first() -> None:
    driver = GroupDriver()

    join = driver.join(instance_id="i")

    assert join.is_parked
    driver.at(3_000)
    member_id = driver.response_to(join).member_id
    assert member_id.startswith("i-")
    assert driver.response_to(join).members == (JoinedMember(member_id, "i", protocol().metadata),)


def test_a_static_follower_comes_back_without_a_rebalance() -> None:
    driver = GroupDriver()
    leader, follower, old_id = stable(driver, static="i")

    outcome = driver.join(instance_id="i")

    new_id = outcome.response.member_id
    assert outcome.response == JoinGroupResponse(
        ErrorCode.NONE, new_id, 1, "consumer", "range", leader
    )
    assert new_id != old_id
    (record,) = outcome.records
    assert isinstance(record, GroupRecord)
    assert record.value is not None
    assert record.value.generation == 1
    assert {m.member_id for m in record.value.members} == {leader, follower, new_id}
    assert state_of(driver) is ClassicState.STABLE


def test_a_static_member_that_came_back_waits_for_nothing() -> None:
    driver = GroupDriver()
    leader, follower, gone = stable(driver, static="i")
    back = driver.join(instance_id="i").response.member_id
    assert session_timer(gone) not in membership_of(driver).timers

    join = driver.join(leader)
    outcome = driver.join(follower)

    assert outcome.responses == {}
    driver.at(16_000)
    assert back not in membership_of(driver).members
    assert driver.response_to(join).generation == 2


def test_a_static_member_that_comes_back_as_the_last_one_ends_the_join_phase() -> None:
    driver = GroupDriver()
    leader, follower, _ = stable(driver, static="i")
    driver.join(leader)
    driver.join(follower)

    outcome = driver.join(instance_id="i")

    assert outcome.response.generation == 2
    assert len(outcome.responses) == 3


def test_a_static_member_that_comes_back_does_not_fall_silent_while_it_waits() -> None:
    driver = GroupDriver()
    leader, follower, _ = stable(driver, static="i")
    driver.join(leader)
    back = driver.join(instance_id="i")
    for time_ms in (15_000, 24_000):
        driver.at(time_ms)
        driver.heartbeat(follower, 1)

    driver.join(follower)

    assert driver.response_to(back).generation == 2


def test_a_static_leader_that_comes_back_is_told_to_skip_the_assignment() -> None:
    driver = GroupDriver()
    old = driver.join(instance_id="i")
    driver.at(3_000)
    old_id = driver.response_to(old).member_id
    driver.sync(old_id, 1, {old_id: {"orders": [0]}})

    response = driver.join(instance_id="i", version=9).response

    assert response.skip_assignment
    assert response.leader == response.member_id
    assert [member.member_id for member in response.members] == [response.member_id]
    assert driver.sync(response.member_id, 1).response.assignment != b""


def test_before_version_9_a_static_leader_hears_its_old_id_as_the_leaders() -> None:
    driver = GroupDriver()
    old = driver.join(instance_id="i")
    driver.at(3_000)
    old_id = driver.response_to(old).member_id
    driver.sync(old_id, 1)

    response = driver.join(instance_id="i", version=8).response

    assert not response.skip_assignment
    assert response.leader == old_id
    assert response.members == ()
    assert membership_of(driver).leader == response.member_id


def test_a_static_member_that_changes_the_vote_makes_all_rebalance() -> None:
    driver = GroupDriver()
    both = (protocol("range"), protocol("sticky"))
    driver.send(messages.join("", *both, instance_id="i"), 9)
    driver.at(3_000)
    driver.sync(*membership_of(driver).members, 1)

    outcome = driver.send(messages.join("", *reversed(both), instance_id="i"), 9)

    assert outcome.response.generation == 2
    assert outcome.response.protocol == "sticky"


def test_a_static_member_that_comes_back_while_the_leader_assigns_begins_again() -> None:
    driver = GroupDriver()
    leader, follower, old_id = stable(driver, static="i")
    for member_id, instance_id in ((leader, None), (follower, None), (old_id, "i")):
        driver.join(member_id, instance_id=instance_id)
    sync = driver.sync(old_id, 2)

    outcome = driver.join(instance_id="i")

    assert outcome.is_parked
    assert driver.response_to(sync).error is ErrorCode.FENCED_INSTANCE_ID
    assert state_of(driver) is ClassicState.PREPARING_REBALANCE


def test_a_static_member_that_comes_back_while_it_waits_to_join_fences_itself() -> None:
    driver = GroupDriver()
    first = driver.join(instance_id="i")

    second = driver.join(instance_id="i")

    assert second.is_parked
    refused = driver.response_to(first)
    assert refused.error is ErrorCode.FENCED_INSTANCE_ID
    assert refused.member_id.startswith("i-")
    driver.at(3_000)
    assert driver.response_to(second).generation == 1


@pytest.mark.parametrize(
    ("member", "instance_id", "error"),
    [
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

    outcome = driver.join(ids[member], instance_id=instance_id)

    assert outcome.response == JoinGroupResponse(error, ids[member])
