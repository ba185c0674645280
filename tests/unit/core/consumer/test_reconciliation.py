"""The reconciliation of one member: a pure step from what it has to what it shall have (KIP-848)."""

from __future__ import annotations

from typing import Any

import pytest

from group_coordinator.core.consumer.reconciliation import Goal, reconcile
from group_coordinator.core.model.consumer_member import (
    JUST_CREATED,
    CurrentAssignment,
    ReconciliationState,
)
from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.requests import TopicPartitions
from tests.unit.core.consumer_groups import STABLE, UNRELEASED, UNREVOKED

T1, T2 = "AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg"


def goal(target: dict[str, tuple[int, ...]], **more: Any) -> Goal:
    """To a target of epoch 11, of one who subscribes to both topics and says nothing of what it has."""
    usual = {
        "topic_names": ("t1", "t2"),
        "topic_ids": frozenset({T1, T2}),
        "is_subscription_new": False,
        "owned": None,
        "is_held": lambda _topic_id, _partition: False,
    }
    return Goal(epoch=11, target=target, **usual | more)


def owned(topic_id: str, *partitions: int) -> tuple[TopicPartitions, ...]:
    return (TopicPartitions(None, topic_id, partitions),)


def stable(epoch: int = 10, **held: dict[int, int]) -> CurrentAssignment:
    return CurrentAssignment(epoch, epoch, STABLE, {T1: {1: 10, 2: 10}} | held, {})


def unrevoked() -> CurrentAssignment:
    return CurrentAssignment(10, 10, UNREVOKED, {T1: {2: 10}}, {T1: {1: 10}})


UNKNOWN = stable().replace(state=ReconciliationState.UNKNOWN)
BARE = goal({}, topic_names=(), topic_ids=frozenset(), is_subscription_new=True)
EMPTY = CurrentAssignment(11, 10, STABLE, {}, {})
ONLY_T1 = {"topic_ids": frozenset({T1}), "is_subscription_new": True}
ONLY_T2 = {"topic_ids": frozenset({T2}), "is_subscription_new": True}

STEPS = {
    "stable gets what is free": (
        stable(),
        goal({T1: (1, 2, 4), T2: (0,)}),
        CurrentAssignment(11, 10, STABLE, {T1: {1: 10, 2: 10, 4: 11}, T2: {0: 11}}, {}),
    ),
    "stable with the same target only gets the epoch": (
        stable(),
        goal({T1: (1, 2)}),
        stable().replace(epoch=11),
    ),
    "what others hold is waited for": (
        stable(),
        goal({T1: (1, 2, 4), T2: (0,)}, is_held=lambda topic_id, _: topic_id == T2),
        CurrentAssignment(11, 10, UNRELEASED, {T1: {1: 10, 2: 10, 4: 11}}, {}),
    ),
    "one who only waits is at the new epoch too": (
        stable(),
        goal({T1: (1, 2), T2: (0,)}, is_held=lambda *_: True),
        stable().replace(epoch=11, state=UNRELEASED),
    ),
    "unreleased gets what was released": (
        stable(11).replace(state=UNRELEASED, previous_epoch=10),
        goal({T1: (1, 2), T2: (0,)}),
        CurrentAssignment(11, 11, STABLE, {T1: {1: 10, 2: 10}, T2: {0: 11}}, {}),
    ),
    # Nothing new comes, and the epoch stays, until the client has let go.
    "what has to go is revoked first": (stable(), goal({T1: (2,), T2: (0,)}), unrevoked()),
    "what has to go and is reported too": (
        stable(),
        goal({T1: (2,), T2: (0,)}, owned=owned(T1, 1, 2)),
        unrevoked(),
    ),
    "what the client no longer has needs no revocation": (
        stable(),
        goal({T1: (2,)}, owned=owned(T1, 2)),
        CurrentAssignment(11, 10, STABLE, {T1: {2: 10}}, {}),
    ),
    "unrevoked goes on when the client has let go": (
        unrevoked(),
        goal({T1: (2, 3)}, owned=owned(T1, 2)),
        CurrentAssignment(11, 10, STABLE, {T1: {2: 10, 3: 11}}, {}),
    ),
    # In the owners' book the partition is still its own.
    "what it was to give back may come back": (
        unrevoked(),
        goal({T1: (1, 2)}, owned=(), is_held=lambda *_: True),
        CurrentAssignment(11, 10, STABLE, {T1: {1: 11, 2: 10}}, {}),
    ),
    "a target beyond the subscription is not for it": (
        stable(),
        goal({T1: (1, 2), T2: (0,)}, topic_ids=frozenset({T2}), owned=()),
        CurrentAssignment(11, 10, STABLE, {T2: {0: 11}}, {}),
    ),
    "a new subscription takes topics away at once": (
        stable(11, **{T2: {0: 9}}),
        goal({T1: (1, 2)}, **ONLY_T2),
        CurrentAssignment(11, 11, UNREVOKED, {T2: {0: 9}}, {T1: {1: 10, 2: 10}}),
    ),
    "a new subscription adds to what is being revoked": (
        unrevoked().replace(assigned={T1: {2: 10}, T2: {5: 9}}),
        goal({}, **ONLY_T1),
        CurrentAssignment(10, 10, UNREVOKED, {T1: {2: 10}}, {T1: {1: 10}, T2: {5: 9}}),
    ),
    "a new subscription takes what the client no longer has": (
        stable(11),
        goal({}, owned=(), **ONLY_T2),
        CurrentAssignment(11, 11, STABLE, {}, {}),
    ),
    # As in Kafka, where an empty map is not the same object as another one.
    "no subscription at all is written even without partitions": (
        EMPTY,
        BARE,
        EMPTY.replace(previous_epoch=11),
    ),
    "an unknown state begins again without partitions": (
        UNKNOWN,
        goal({T1: (1, 3)}, owned=()),
        CurrentAssignment(11, 10, STABLE, {T1: {1: 10, 3: 11}}, {}),
    ),
}


@pytest.mark.parametrize(("current", "aim", "after"), STEPS.values(), ids=STEPS)
def test_a_step(current: CurrentAssignment, aim: Goal, after: CurrentAssignment) -> None:
    assert reconcile(current, aim) == after


WAITS = {
    "stable at the target's epoch": (stable(11), goal({T1: (5,)})),
    "a wider subscription waits for the next target": (
        stable(11),
        goal({T1: (1, 2)}, is_subscription_new=True),
    ),
    # A classic group that never finished a join is upgraded to epoch 0.
    "a new member of a group at epoch 0": (JUST_CREATED, BARE.replace(epoch=0)),
    **{
        f"unrevoked, and the client reports {reported}": (
            unrevoked(),
            goal({T1: (2, 3)}, owned=reported),
        )
        for reported in (None, owned(T1, 1), owned(T2, 1) + owned(T1, 2, 1))
    },
}


@pytest.mark.parametrize(("current", "aim"), WAITS.values(), ids=WAITS)
def test_nothing_to_do(current: CurrentAssignment, aim: Goal) -> None:
    assert reconcile(current, aim) is current


@pytest.mark.parametrize("reported", [None, owned(T1, 1)])
def test_an_unknown_state_is_fenced(reported: tuple[TopicPartitions, ...] | None) -> None:
    with pytest.raises(CoordinatorError) as refusal:
        reconcile(UNKNOWN, goal({T1: (1,)}, owned=reported))
    assert refusal.value.code is ErrorCode.FENCED_MEMBER_EPOCH
