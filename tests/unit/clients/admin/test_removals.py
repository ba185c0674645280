from __future__ import annotations

from typing import Any

import pytest

from group_coordinator.clients.admin.descriptions import removal_results, remove_members
from group_coordinator.clients.errors import (
    FencedInstanceIdError,
    GroupIdNotFoundError,
    InvalidGroupIdError,
    UnknownError,
    UnknownMemberIdError,
)
from group_coordinator.clients.results import MemberToRemove
from tests.unit.clients.billing import join_classic, live, new_member
from tests.unit.clients.coordinator_in_process import CoordinatorInProcess

TILL = MemberToRemove(group_instance_id="till-1")


def members(admin: Any) -> list[str | None]:
    described = admin.describe_consumer_groups(["billing"])["billing"]
    return [member.group_instance_id or member.member_id for member in described.members]


def test_all_members_leave_where_none_is_named(admin: Any, stage: CoordinatorInProcess) -> None:
    second = new_member(stage, "second")
    live(stage, second)
    assert len(members(admin)) == 2

    results = admin.remove_members_from_consumer_group("billing")

    results.all()
    assert set(results) == {TILL, MemberToRemove(second.member_id)}
    assert members(admin) == []


def test_members_of_a_classic_group_leave(coordinator: CoordinatorInProcess) -> None:
    member = join_classic(coordinator, ["orders"])
    leaving = [MemberToRemove(member.member_id), MemberToRemove("nobody")]

    answer = coordinator.send(remove_members("billing", leaving, "")).result()
    results = removal_results(answer, leaving)

    results.member_result(leaving[0])
    with pytest.raises(UnknownMemberIdError):
        results.member_result(leaving[1])
    with pytest.raises(UnknownMemberIdError):
        results.all()


def test_an_instance_id_may_be_anothers_by_now(admin: Any) -> None:
    outdated = MemberToRemove("before", "till-1")

    results = admin.remove_members_from_consumer_group("billing", [outdated])

    with pytest.raises(FencedInstanceIdError):
        results.member_result(outdated)
    assert members(admin) == ["till-1"]


def test_no_members_is_not_all_members(admin: Any, stage: CoordinatorInProcess) -> None:
    before = len(stage.events)

    admin.remove_members_from_consumer_group("billing", []).all()

    assert len(stage.events) == before


def test_an_empty_group_has_nobody_to_remove(admin: Any) -> None:
    admin.remove_members_from_consumer_group("reports").all()


def test_a_group_that_is_not_there(admin: Any) -> None:
    with pytest.raises(GroupIdNotFoundError):
        admin.remove_members_from_consumer_group("unknown").all()


def test_an_error_of_the_group_is_every_members(admin: Any) -> None:
    results = admin.remove_members_from_consumer_group("", [TILL])

    assert isinstance(results.group_error, InvalidGroupIdError)
    with pytest.raises(InvalidGroupIdError):
        results.member_result(TILL)


@pytest.mark.parametrize(
    ("reason", "sent"),
    [("", "member was removed by an admin"), ("why not", "why not"), ("x" * 256, "x" * 255)],
)
def test_the_reason_is_said_as_kafkas_client_says_it(reason: str, sent: str) -> None:
    request = remove_members("billing", [TILL], reason)

    assert request.body["members"] == [
        {"memberId": "", "groupInstanceId": "till-1", "reason": sent}
    ]


def test_a_member_that_the_answer_forgets() -> None:
    results = removal_results({"errorCode": 0, "members": []}, [TILL])

    with pytest.raises(UnknownError):
        results.member_result(TILL)


@pytest.mark.parametrize(
    "method",
    [
        "describe_consumer_groups",
        "delete_consumer_groups",
        "describe_group_configs",
        "list_offsets_of_groups",
    ],
)
def test_a_single_group_is_no_list(admin: Any, method: str) -> None:
    with pytest.raises(TypeError, match=r"'reports' is a single name: give a list, \['reports'\]"):
        getattr(admin, method)("reports")


def test_a_single_setting_is_no_list(admin: Any) -> None:
    with pytest.raises(TypeError, match=r"'consumer\.session\.timeout\.ms' is a single name"):
        admin.describe_group_configs(["reports"], "consumer.session.timeout.ms")
