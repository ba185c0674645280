from __future__ import annotations

import pytest

from group_coordinator.codecs.snapshots.timers import BEGINNINGS, by_text, key_of
from group_coordinator.core.model.timers import (
    JOIN_TIMER,
    REGEX_TIMER,
    SYNC_TIMER,
    Timer,
    TimerKey,
    TimerKind,
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


@pytest.mark.parametrize(("key", "text"), TEXTS.items(), ids=TEXTS.values())
def test_the_key_of_a_timer_is_one_text(key: TimerKey, text: str) -> None:
    timer = Timer(2_000, 1_000)

    assert by_text({key: timer}) == {text: timer}
    assert key_of(text) == key


def test_every_kind_has_a_beginning_of_its_own() -> None:
    assert BEGINNINGS.keys() == set(TimerKind)
    assert len(set(BEGINNINGS.values())) == len(TimerKind)
