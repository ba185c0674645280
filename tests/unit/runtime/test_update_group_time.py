"""Deadlines and events of a group come in the order of their times; while timers hold only events make time pass."""

from __future__ import annotations

from dataclasses import replace

import pytest

from group_coordinator.codecs import snapshots
from group_coordinator.core.model.classic_member import ClassicState
from tests.support.group_updates import lines_of
from tests.unit.runtime.group_updates import (
    COMMIT,
    CONTEXT,
    DELETE,
    JOIN,
    alive,
    call,
    committed,
    lines,
    row,
    stable,
    tags,
)

HOLDING = replace(CONTEXT, timers_suspended=True)


@pytest.mark.parametrize(
    ("batch_time_ms", "fired"), [(13_999, False), (14_000, True), (14_001, True)]
)
def test_a_deadline_waits_for_events_on_their_way(batch_time_ms: int, *, fired: bool) -> None:
    before = stable()
    assert before.deadline_ms == 13_000

    update = call(at_ms=batch_time_ms, state=before.state)

    assert (update.state != before.state) is fired
    assert [line["event_time_ms"] for _, line in lines(update)] == [13_000, 13_000] * fired


@pytest.mark.parametrize(("sent_ms", "error"), [(12_999, 0), (13_000, 25), (13_001, 25)])
def test_an_event_of_the_time_before_a_deadline_comes_before_it(sent_ms: int, error: int) -> None:
    update = call(alive(sent_ms), at_ms=14_500, state=stable().state)

    assert lines(update)[-1][1]["body"]["errorCode"] == error


def test_every_deadline_fires_at_its_own_time_however_late_the_batch() -> None:
    update = call(row(COMMIT, 3_000, 9), at_ms=1_000_000, state=stable().state)

    told = [(line.get("reason"), line.get("event_time_ms")) for _, line in lines(update)]
    assert told == [(None, None), ("session-timeout", 13_000), ("group-expired", 13_000)]


def test_an_event_is_later_than_its_batch_by_the_slack_at_most() -> None:
    ((_, log), (_, answer)) = lines(call(row(COMMIT, 9_000), at_ms=2_000))

    assert (log["event_time_ms"], answer["at"]) == (3_000, 3_000)


def test_a_group_that_was_dropped_has_no_clock_in_the_same_batch_either() -> None:
    """An event with an earlier time, by another leader's clock: the next batch would not know the group's clock."""
    update = call(row(COMMIT, 3_000, 1), row(DELETE, 4_000, 2), row(COMMIT, 2_500, 3), at_ms=5_000)

    assert [line["at"] for _, line in lines(update) if "at" in line] == [3_000, 2_500]


def test_an_event_is_not_earlier_than_the_groups_clock() -> None:
    ((_, log), (_, answer)) = lines(call(row(COMMIT, 500), at_ms=2_000, state=committed().state))

    assert (log["event_time_ms"], answer["at"]) == (1_000, 1_000)


def test_a_deadline_that_an_event_makes_due_at_once_does_not_wait() -> None:
    config = replace(CONTEXT.config, group_initial_rebalance_delay_ms=0)

    update = call(row(JOIN, 1_000), at_ms=1_000, context=replace(HOLDING, config=config))

    assert tags(update) == "LR"
    assert lines(update)[1][1]["at"] == 1_000


def test_a_tick_lets_time_pass() -> None:
    tick = {"api": "Tick", "version": 0, "body": {"groupId": "g"}}

    update = call(row(tick, 61_000), at_ms=61_000, state=committed().state)

    assert tags(update) == "LL"
    assert update.state is None


# While timers hold.


def test_while_timers_hold_no_deadline_fires_by_itself() -> None:
    before = stable()

    held = call(at_ms=1_000_000, state=before.state, context=HOLDING)
    assert (lines_of(held), held.deadline_ms, held.state) == ([], 13_000, before.state)

    late = lines(call(at_ms=1_000_000, state=held.state))
    assert [line["event_time_ms"] for _, line in late] == [13_000, 13_000]


def test_while_timers_hold_the_events_make_time_pass() -> None:
    update = call(alive(13_000), at_ms=1_000_000, state=stable().state, context=HOLDING)

    (_, log), _, (_, answer) = lines(update)
    assert (log["reason"], log["event_time_ms"]) == ("session-timeout", 13_000)
    assert answer["body"]["errorCode"] == 25


def test_a_member_that_was_alive_survives_the_backlog() -> None:
    state = stable().state
    for offset, at_ms in enumerate((12_000, 21_000, 30_000), 2):
        update = call(alive(at_ms, offset), at_ms=1_000_000, state=state, context=HOLDING)
        assert lines(update)[0][1]["body"]["errorCode"] == 0
        state = update.state
    assert state is not None

    membership = snapshots.load("g", state).membership
    assert membership is not None
    assert membership.state is ClassicState.STABLE
