from __future__ import annotations

from group_coordinator.codecs import snapshots
from group_coordinator.core.model.group import Group
from tests.support.forgetful import forgetful
from tests.unit.codecs.offsets_topic.cases import PLAIN


def with_many_offsets() -> Group:
    group = Group("g")
    for partition in range(100):
        group.store_offset("many", partition, PLAIN.replace(offset=partition))
    group.store_offset("few", 0, PLAIN)
    return group


def as_if_new(group: Group) -> bytes:
    """The snapshot of a group of which nothing is remembered."""
    return snapshots.dump(forgetful(group))


def test_a_commit_is_in_the_next_snapshot() -> None:
    group = with_many_offsets()
    before = snapshots.dump(group)

    group.store_offset("many", 7, PLAIN.replace(offset=1_000))

    assert snapshots.dump(group) == as_if_new(group) != before
    assert snapshots.load("g", snapshots.dump(group)) == group


def test_a_deleted_offset_is_not() -> None:
    group = with_many_offsets()
    before = snapshots.dump(group)

    group.remove_offset("many", 7)
    group.remove_offset("few", 0)

    assert snapshots.dump(group) == as_if_new(group) != before


def test_a_group_that_stays_as_it_was_has_the_same_snapshot() -> None:
    group = with_many_offsets()

    assert snapshots.dump(group) == snapshots.dump(group) == as_if_new(group)
