from __future__ import annotations

import pytest

from group_coordinator.clients.errors import (
    FencedInstanceIdError,
)
from group_coordinator.clients.member.membership import MemberState
from tests.unit.clients.billing import (
    bodies,
    live,
    new_member,
    partitions,
    poll,
)
from tests.unit.clients.coordinator_in_process import CoordinatorInProcess


def test_a_member_leaves_for_good(coordinator: CoordinatorInProcess) -> None:
    a, b = new_member(coordinator, "a"), new_member(coordinator, "b")
    live(coordinator, a, b)

    b.leave()
    live(coordinator, a, b)

    assert (b.state, b.assignment) == (MemberState.LEFT, set())
    assert a.assignment == partitions("orders", 0, 1, 2, 3)
    [goodbye] = [body for body in bodies(coordinator) if body["memberEpoch"] < 0]
    assert (goodbye["memberId"], goodbye["memberEpoch"]) == (b.member_id, -1)


def test_a_static_member_leaves_its_place_to_its_successor(
    coordinator: CoordinatorInProcess,
) -> None:
    first = new_member(coordinator, "a", group_instance_id="till-1")
    other = new_member(coordinator, "b")
    live(coordinator, first, other)
    had = first.assignment

    first.leave()
    assert bodies(coordinator)[-1]["memberEpoch"] == -2
    live(coordinator, other)
    assert len(other.assignment) == 2

    successor = new_member(coordinator, "a", group_instance_id="till-1")
    live(coordinator, successor, other)
    assert successor.assignment == had
    assert successor.member_id != first.member_id


def test_a_successor_waits_until_the_instance_id_is_released(
    coordinator: CoordinatorInProcess,
) -> None:
    first = new_member(coordinator, "a", group_instance_id="till-1")
    live(coordinator, first)
    successor = new_member(coordinator, "a", group_instance_id="till-1")

    poll(successor)
    assert successor.state is MemberState.UNJOINED

    first.leave()
    coordinator.sleep(499)
    poll(successor)
    assert successor.state is MemberState.UNJOINED
    coordinator.sleep(1)
    poll(successor)
    assert successor.assignment == partitions("orders", 0, 1, 2, 3)


def test_a_static_member_whose_place_was_taken_is_fenced(
    coordinator: CoordinatorInProcess,
) -> None:
    first = new_member(coordinator, "a", group_instance_id="till-1")
    live(coordinator, first)
    coordinator.sleep(45_000)
    successor = new_member(coordinator, "a", group_instance_id="till-1")
    poll(successor)

    with pytest.raises(FencedInstanceIdError):
        poll(first)
    assert first.state is MemberState.FAILED


def test_a_member_that_never_joined_leaves_without_a_word(
    coordinator: CoordinatorInProcess,
) -> None:
    member = new_member(coordinator, "a")

    member.leave()
    poll(member)

    assert coordinator.events == []
    assert member.generation_id == -1
