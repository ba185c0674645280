from __future__ import annotations

from collections.abc import Callable

import pytest

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.records import GroupRecord, OffsetRecord, Reason
from group_coordinator.core.model.responses import DeleteGroupResponse
from group_coordinator.core.model.states import ClassicState
from group_coordinator.core.model.topic import Topic
from tests.unit.core import groups_in_every_state
from tests.unit.core.groups_in_every_state import GroupInState, state_of


def test_an_empty_group_goes_with_all_its_offsets() -> None:
    driver, _ = groups_in_every_state.left_group()
    driver.commit({"refunds": {10: 1, 9: 2}})

    outcome = driver.delete()

    assert outcome.response == DeleteGroupResponse(ErrorCode.NONE, "g")
    assert outcome.records == (
        OffsetRecord("orders", 0, None, Reason.GROUP_DELETED),
        OffsetRecord("refunds", 9, None, Reason.GROUP_DELETED),
        OffsetRecord("refunds", 10, None, Reason.GROUP_DELETED),
        GroupRecord(None, Reason.GROUP_DELETED),
    )
    assert state_of(driver) is ClassicState.DEAD
    assert driver.group.offsets == {}
    assert driver.next_deadline_ms is None


def test_a_simple_group_goes_too() -> None:
    driver, _ = groups_in_every_state.simple_group()

    assert driver.delete().response.error is ErrorCode.NONE
    assert state_of(driver) is ClassicState.DEAD


def test_a_group_of_a_pending_id_goes_with_the_id() -> None:
    driver, (pending,) = groups_in_every_state.group_of_a_pending_id()

    assert driver.delete().response.error is ErrorCode.NONE
    assert driver.next_deadline_ms is None
    assert driver.join(pending).response.error is ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize(
    "make_group",
    [
        groups_in_every_state.first_join_phase,
        groups_in_every_state.later_join_phase,
        groups_in_every_state.sync_phase,
        groups_in_every_state.stable_group,
    ],
)
def test_a_group_with_members_stays(make_group: Callable[[], GroupInState]) -> None:
    driver, _ = make_group()
    offsets = driver.fetch().response

    outcome = driver.delete()

    assert outcome.response == DeleteGroupResponse(ErrorCode.NON_EMPTY_GROUP, "g")
    assert outcome.records == ()
    assert driver.fetch().response == offsets


def test_what_is_not_there_cannot_be_deleted() -> None:
    driver, _ = groups_in_every_state.simple_group()
    driver.delete()

    assert driver.delete().response == DeleteGroupResponse(ErrorCode.GROUP_ID_NOT_FOUND, "g")


def test_the_name_can_be_used_again() -> None:
    driver, _ = groups_in_every_state.left_group()
    driver.learn_topics(Topic("orders", "4ksO1bcLSgCStYJnTlCVLg", 1))
    driver.delete()
    assert driver.group.partition_exists("orders", 0)
    assert not driver.group.partition_exists("orders", 1)

    join = driver.join(version=3)
    driver.sleep(3_000)

    assert driver.response_to(join).generation == 1
    assert driver.fetch().response.topics == ()
