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


def test_stable_at_the_targets_epoch_has_nothing_to_do() -> None:
    current = stable(11)

    assert reconcile(current, goal({T1: (5,)})) is current


def test_stable_gets_what_is_free() -> None:
    assert reconcile(stable(), goal({T1: (1, 2, 4), T2: (0,)})) == CurrentAssignment(
        11, 10, STABLE, {T1: {1: 10, 2: 10, 4: 11}, T2: {0: 11}}, {}
    )


def test_stable_with_the_same_target_only_gets_the_epoch() -> None:
    assert reconcile(stable(), goal({T1: (1, 2)})) == stable().replace(epoch=11)


def test_what_others_hold_is_waited_for() -> None:
    held = goal({T1: (1, 2, 4), T2: (0,)}, is_held=lambda topic_id, _: topic_id == T2)

    assert reconcile(stable(), held) == CurrentAssignment(
        11, 10, UNRELEASED, {T1: {1: 10, 2: 10, 4: 11}}, {}
    )


def test_one_who_only_waits_is_at_the_new_epoch_too() -> None:
    held = goal({T1: (1, 2), T2: (0,)}, is_held=lambda *_: True)

    assert reconcile(stable(), held) == stable().replace(epoch=11, state=UNRELEASED)


def test_unreleased_gets_what_was_released() -> None:
    waiting = stable(11).replace(state=UNRELEASED, previous_epoch=10)

    assert reconcile(waiting, goal({T1: (1, 2), T2: (0,)})) == CurrentAssignment(
        11, 11, STABLE, {T1: {1: 10, 2: 10}, T2: {0: 11}}, {}
    )


@pytest.mark.parametrize("reported", [None, owned(T1, 1, 2)])
def test_what_has_to_go_is_revoked_first(reported: tuple[TopicPartitions, ...] | None) -> None:
    """Nothing new comes, and the epoch stays, until the client has let go."""
    revoking = goal({T1: (2,), T2: (0,)}, owned=reported)

    assert reconcile(stable(), revoking) == CurrentAssignment(
        10, 10, UNREVOKED, {T1: {2: 10}}, {T1: {1: 10}}
    )


def test_what_the_client_no_longer_has_needs_no_revocation() -> None:
    assert reconcile(stable(), goal({T1: (2,)}, owned=owned(T1, 2))) == CurrentAssignment(
        11, 10, STABLE, {T1: {2: 10}}, {}
    )


def unrevoked() -> CurrentAssignment:
    return CurrentAssignment(10, 10, UNREVOKED, {T1: {2: 10}}, {T1: {1: 10}})


@pytest.mark.parametrize("reported", [None, owned(T1, 1), owned(T2, 1) + owned(T1, 2, 1)])
def test_unrevoked_waits_for_the_client(reported: tuple[TopicPartitions, ...] | None) -> None:
    current = unrevoked()

    assert reconcile(current, goal({T1: (2, 3)}, owned=reported)) is current


def test_unrevoked_goes_on_when_the_client_has_let_go() -> None:
    assert reconcile(unrevoked(), goal({T1: (2, 3)}, owned=owned(T1, 2))) == CurrentAssignment(
        11, 10, STABLE, {T1: {2: 10, 3: 11}}, {}
    )


def test_what_it_was_to_give_back_may_come_back() -> None:
    """In the owners' book the partition is still its own."""
    back = goal({T1: (1, 2)}, owned=(), is_held=lambda *_: True)

    assert reconcile(unrevoked(), back) == CurrentAssignment(
        11, 10, STABLE, {T1: {1: 11, 2: 10}}, {}
    )


def test_a_target_beyond_the_subscription_is_not_for_it() -> None:
    narrowed = goal({T1: (1, 2), T2: (0,)}, topic_ids=frozenset({T2}), owned=())

    assert reconcile(stable(), narrowed) == CurrentAssignment(11, 10, STABLE, {T2: {0: 11}}, {})


def test_a_new_subscription_takes_topics_away_at_once() -> None:
    narrowed = goal({T1: (1, 2)}, topic_ids=frozenset({T2}), is_subscription_new=True)

    assert reconcile(stable(11, **{T2: {0: 9}}), narrowed) == CurrentAssignment(
        11, 11, UNREVOKED, {T2: {0: 9}}, {T1: {1: 10, 2: 10}}
    )


def test_a_new_subscription_adds_to_what_is_being_revoked() -> None:
    current = unrevoked().replace(assigned={T1: {2: 10}, T2: {5: 9}})
    narrowed = goal({}, topic_ids=frozenset({T1}), is_subscription_new=True)

    assert reconcile(current, narrowed) == CurrentAssignment(
        10, 10, UNREVOKED, {T1: {2: 10}}, {T1: {1: 10}, T2: {5: 9}}
    )


def test_a_new_subscription_takes_what_the_client_no_longer_has() -> None:
    narrowed = goal({}, topic_ids=frozenset({T2}), is_subscription_new=True, owned=())

    assert reconcile(stable(11), narrowed) == CurrentAssignment(11, 11, STABLE, {}, {})


def test_a_wider_subscription_waits_for_the_next_target() -> None:
    current = stable(11)

    assert reconcile(current, goal({T1: (1, 2)}, is_subscription_new=True)) is current


def test_no_subscription_at_all_is_written_even_without_partitions() -> None:
    """As in Kafka, where an empty map is not the same object as another one."""
    bare = goal({}, topic_names=(), topic_ids=frozenset(), is_subscription_new=True)
    empty = CurrentAssignment(11, 10, STABLE, {}, {})

    assert reconcile(empty, bare) == empty.replace(previous_epoch=11)


def test_a_new_member_of_a_group_at_epoch_0_has_nothing_to_do() -> None:
    """A classic group that never finished a join is upgraded to epoch 0."""
    bare = goal({}, topic_names=(), topic_ids=frozenset(), is_subscription_new=True)

    assert reconcile(JUST_CREATED, bare.replace(epoch=0)) is JUST_CREATED


@pytest.mark.parametrize("reported", [None, owned(T1, 1)])
def test_an_unknown_state_is_fenced(reported: tuple[TopicPartitions, ...] | None) -> None:
    unknown = stable().replace(state=ReconciliationState.UNKNOWN)

    with pytest.raises(CoordinatorError) as refusal:
        reconcile(unknown, goal({T1: (1,)}, owned=reported))
    assert refusal.value.code is ErrorCode.FENCED_MEMBER_EPOCH


def test_an_unknown_state_begins_anew_without_partitions() -> None:
    unknown = stable().replace(state=ReconciliationState.UNKNOWN)

    assert reconcile(unknown, goal({T1: (1, 3)}, owned=())) == CurrentAssignment(
        11, 10, STABLE, {T1: {1: 10, 3: 11}}, {}
    )
