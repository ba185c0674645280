from __future__ import annotations

import pytest

from group_coordinator.codecs import snapshots
from group_coordinator.core.model.group import Group
from group_coordinator.runtime.group_call import (
    STATE_VERSION,
    GroupCache,
    OperatorInput,
    OperatorResult,
    SortedEvents,
    StoredState,
    call_group,
)
from group_coordinator.runtime.outputs import EVENT, HEADER
from group_coordinator.testing import GroupDriver
from tests.benchmarks.throughput import commit_of
from tests.support.group_updates import lines_of, update_context

HOUR_MS = 3_600_000


def group_of(name: str) -> tuple[Group, bytes]:
    driver = GroupDriver(name)
    driver.commit({"orders": {0: 42}})
    return driver.group, snapshots.dump(driver.group)


def a_known_group() -> tuple[GroupCache, Group, bytes]:
    group, snapshot = group_of("g")
    known = GroupCache(least_bytes=0)
    known.keep(group, snapshot)
    return known, group, snapshot


def test_a_group_is_known_by_all_of_its_snapshot() -> None:
    known, group, snapshot = a_known_group()

    assert known.take("other", snapshot) is None
    assert known.take("g", bytes(bytearray(snapshot))) is group


def test_a_group_with_another_snapshot_is_not_known_any_more() -> None:
    known, _, snapshot = a_known_group()

    assert known.take("g", snapshot + b"?") is None
    assert known.take("g", snapshot) is None


def test_a_group_is_given_away_once() -> None:
    known, group, snapshot = a_known_group()

    assert known.take("g", snapshot) is group
    assert known.take("g", snapshot) is None


def test_settings_may_have_changed_since() -> None:
    group, snapshot = group_of("g")
    group.wake_ms = HOUR_MS
    known = GroupCache(least_bytes=0)
    known.keep(group, snapshot)

    taken = known.take("g", snapshot)

    assert taken is not None
    assert taken.wake_ms == 0


def test_small_groups_are_read_again() -> None:
    group, snapshot = group_of("g")
    known = GroupCache(least_bytes=len(snapshot) + 1)

    known.keep(group, snapshot)

    assert known.take("g", snapshot) is None


def test_there_is_room_for_the_last_ones() -> None:
    (a, of_a), (b, of_b), (c, of_c) = group_of("a"), group_of("b"), group_of("c")
    known = GroupCache(least_bytes=0, most_bytes=2 * len(of_a))
    for group, snapshot in ((a, of_a), (b, of_b), (a, of_a), (c, of_c)):
        known.keep(group, snapshot)

    assert known.take("b", of_b) is None
    assert (known.take("a", of_a), known.take("c", of_c)) == (a, c)


def test_a_group_that_takes_all_room_is_not_kept() -> None:
    (a, of_a), (b, of_b) = group_of("a"), group_of("b")
    known = GroupCache(least_bytes=0, most_bytes=len(of_a))

    known.keep(a, of_a)
    known.keep(b, of_b + b"?")

    assert known.take("a", of_a) is a


def call(
    stored: StoredState | None, known: GroupCache, offset: int, value: bytes | None = None
) -> OperatorResult:
    value = value or commit_of("g", {"orders": {0: offset}})
    packed = HEADER.pack(0, offset, HOUR_MS, EVENT, len(value)) + value
    given = OperatorInput("g", stored, SortedEvents([packed]), HOUR_MS, has_timed_out=False)
    return call_group(given, update_context(), known)


def test_a_call_goes_on_with_the_group_that_the_one_before_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = GroupCache(least_bytes=0)
    first = call(None, known, 1)
    monkeypatch.delattr(snapshots, "load")

    second = call(first.state, known, 2)

    assert second.state is not None
    assert second.state != first.state


def test_a_batch_that_is_done_again_begins_where_it_began() -> None:
    known = GroupCache(least_bytes=0)
    before = call(None, known, 1).state
    done = call(before, known, 2)

    again = call(before, known, 2)

    assert (again.state, lines_of(again)) == (done.state, lines_of(done))


def test_a_call_that_fails_in_the_middle_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = GroupCache(least_bytes=0)
    before = call(None, known, 1).state
    expected = call(before, GroupCache(), 2)
    with monkeypatch.context() as broken:
        broken.setattr(snapshots, "dump", None)
        failed = call(before, known, 2)

    again = call(before, known, 2)

    assert failed.state == before
    assert (again.state, lines_of(again)) == (expected.state, lines_of(expected))


def test_a_group_that_is_gone_is_not_known() -> None:
    known = GroupCache(least_bytes=0)
    _, snapshot = group_of("g")
    value = b'{"api":"DeleteGroups","version":2,"correlationId":"c","body":{"groupsNames":["g"]}}'
    assert call(StoredState(STATE_VERSION, snapshot), known, 1, value).state is None
    assert known.take("g", snapshot) is None
