"""Members that are as they were stay as they were written, whatever happens to the others."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from group_coordinator.codecs import snapshots
from group_coordinator.codecs.snapshots import consumer
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import (
    NO_METADATA,
    ConsumerMember,
    CurrentAssignment,
    ReconciliationState,
)
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.timers import Timer, session_timer
from tests.support.forgetful import forgetful

ORDERS, BILLS, CARTS = "AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg", "AAAAAAAAAAAAAAAAAAAAAw"
Change = Callable[[ConsumerGroup], None]


def member(number: int, *topic_ids: str, host: str = "/h", names: str = "o") -> ConsumerMember:
    metadata = NO_METADATA.replace(
        client_id="c", client_host=host, topic_names=(names,), rebalance_timeout_ms=1_000
    )
    held = {topic_id: {number: 4, number + 10: 4} for topic_id in topic_ids}
    current = CurrentAssignment(5, 4, ReconciliationState.STABLE, held, {})
    return ConsumerMember(f"m{number}", metadata, current)


def of_three() -> Group:
    """All but the last member have partitions of two topics."""
    membership = ConsumerGroup(epoch=5, metadata_hash=1, assignment_epoch=5)
    for each in (member(0, ORDERS, BILLS), member(1, ORDERS, BILLS), member(2, BILLS)):
        membership.put(each)
        membership.targets[each.member_id] = {BILLS: (7, 8)}
        membership.timers[session_timer(each.member_id)] = Timer(45_000, 0)
    return Group("g", membership, clock_ms=1)


def put(changed: ConsumerMember) -> Change:
    return lambda membership: membership.put(changed)


def remove(member_id: str) -> Change:
    def change(membership: ConsumerGroup) -> None:
        membership.remove(member_id)
        membership.targets.pop(member_id, None)

    return change


def aim(member_id: str, *topic_ids: str) -> Change:
    return lambda membership: membership.targets.update({member_id: dict.fromkeys(topic_ids, (1,))})


def swap(membership: ConsumerGroup) -> None:
    remove("m0")(membership)
    membership.put(member(3, BILLS))


def move_behind_the_others(membership: ConsumerGroup) -> None:
    first = next(iter(membership.members.values()))
    membership.remove(first.member_id)
    membership.put(first)


CHANGES = {
    "nothing": lambda _membership: None,
    "another epoch": lambda m: m.put(
        m.members["m1"].replace(current=m.members["m1"].current.replace(epoch=6))
    ),
    "gives back what others brought": put(member(1, ORDERS)),
    "the last one moves": put(member(2, ORDERS)),
    "another target": aim("m1", ORDERS),
    "one more": put(member(3, CARTS, host="/other")),
    "a lost target": aim("lost", CARTS),
    "a timer of nobody": lambda m: m.timers.update({session_timer("gone"): Timer(1, 0)}),
    "the first one gives back what it brought": put(member(0, BILLS)),
    "the first one brings the same in another order": put(member(0, BILLS, ORDERS)),
    "brings something new": put(member(1, ORDERS, CARTS)),
    "brings another host": put(member(1, ORDERS, BILLS, host="/other")),
    "brings another subscription": put(member(0, ORDERS, BILLS, names="p")),
    "leaves": remove("m0"),
    "the last one leaves": remove("m2"),
    "one leaves and one comes": swap,
    "leaves and comes back": move_behind_the_others,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("then", CHANGES.values(), ids=CHANGES)
def test_a_snapshot_does_not_depend_on_the_one_before(change: Change, then: Change) -> None:
    group = of_three()
    snapshots.dump(group)
    for each in (change, then):
        assert group.consumer is not None
        each(group.consumer)
        blob = snapshots.dump(group)

        assert blob == snapshots.dump(forgetful(group))
        assert snapshots.load("g", blob) == group


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_stays_as_it_was_is_not_written_again(
    change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = snapshots.load("g", snapshots.dump(of_three()))
    assert group.consumer is not None
    change(group.consumer)
    written: list[str] = []
    encoded = consumer._stored_member  # noqa: SLF001 - nobody else can say what it does

    def noted(each: ConsumerMember) -> object:
        written.append(each.member_id)
        return encoded(each)

    monkeypatch.setattr(consumer, "_stored_member", noted)
    snapshots.dump(group)

    assert len(written) <= 1
