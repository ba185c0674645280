from __future__ import annotations

import pytest

from group_coordinator.core.embedded_protocol import encode_assignment
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.responses import DescribedMember, DescribeGroupResponse
from group_coordinator.testing import GroupDriver
from tests.unit.core.groups_in_every_state import GROUPS_IN_EVERY_STATE
from tests.unit.core.requests import protocol

ALL = encode_assignment({"orders": [0]})


def test_a_stable_group_is_told_whole() -> None:
    driver = GroupDriver()
    join = driver.join(instance_id="i")
    driver.at(3_000)
    member_id = driver.response_to(join).member_id
    driver.sync(member_id, 1, {member_id: {"orders": [0]}})

    outcome = driver.describe()

    member = DescribedMember(
        member_id=member_id,
        group_instance_id="i",
        client_id="client",
        client_host="/127.0.0.1",
        metadata=protocol().metadata,
        assignment=ALL,
    )
    assert outcome.response == DescribeGroupResponse(
        error=ErrorCode.NONE,
        error_message=None,
        group_id="g",
        state="Stable",
        protocol_type="consumer",
        protocol="range",
        members=(member,),
    )
    assert outcome.records == ()


def test_in_other_states_neither_protocol_nor_subscriptions_are_told() -> None:
    driver = GroupDriver()
    leader, follower = driver.form(2)
    driver.join(leader)

    response = driver.describe().response

    assert (response.state, response.protocol_type, response.protocol) == (
        "PreparingRebalance",
        "consumer",
        "",
    )
    assert {member.member_id: member.metadata for member in response.members} == {
        leader: b"",
        follower: b"",
    }


@pytest.mark.parametrize("name", GROUPS_IN_EVERY_STATE)
def test_every_state_has_its_name(name: str) -> None:
    make_group, state = GROUPS_IN_EVERY_STATE[name]
    driver, _ = make_group()

    assert driver.describe().response.state == str(state)
