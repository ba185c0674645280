from __future__ import annotations

import pytest

from group_coordinator.core.model.timers import (
    JOIN_TIMER,
    REGEX_TIMER,
    SYNC_TIMER,
    Timer,
    TimerKey,
    TimerKind,
    Timers,
    session_timer,
)

TEXTS = {
    session_timer("m1"): "session:m1",
    session_timer("a:b"): "session:a:b",
    JOIN_TIMER: "join",
    SYNC_TIMER: "sync",
    TimerKey(TimerKind.REBALANCE, "m1"): "rebalance:m1",
    TimerKey(TimerKind.MEMBER_JOIN, "m1"): "join:m1",
    TimerKey(TimerKind.MEMBER_SYNC, "m1"): "sync:m1",
    REGEX_TIMER: "regex",
}
A, B, C = map(session_timer, "abc")


@pytest.mark.parametrize(("key", "text"), TEXTS.items(), ids=TEXTS.values())
def test_the_key_of_a_timer_is_one_text(key: TimerKey, text: str) -> None:
    assert key.text == text
    assert TimerKey.of(text) == key


def test_every_kind_has_a_beginning_of_its_own() -> None:
    assert sorted(TimerKind) == sorted(set(TimerKind))
    assert {key.kind for key in TEXTS} == set(TimerKind)


def test_of_timers_of_one_millisecond_the_one_that_was_set_first_is_the_soonest() -> None:
    timers = Timers({A: Timer(50, 0), B: Timer(40, 0), C: Timer(40, 0)})

    assert timers.soonest() == (B, Timer(40, 0))

    timers.arm(B, 40, 10)

    assert timers.soonest() == (C, Timer(40, 0))
    assert list(timers) == [A, C, B]


def test_a_timer_that_is_not_set_may_be_cancelled() -> None:
    timers = Timers({A: Timer(50, 0)})

    timers.cancel(B)
    timers.cancel(A)

    assert not timers


def test_a_copy_is_another_one() -> None:
    timers = Timers({A: Timer(50, 0)})

    timers.copy().arm(B, 10, 0)

    assert timers == {A: Timer(50, 0)}
