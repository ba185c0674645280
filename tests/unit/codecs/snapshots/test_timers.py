from __future__ import annotations

import pytest

from group_coordinator.codecs.snapshots.timers import BEGINNINGS, key_of, text_of
from group_coordinator.core.model.timers import (
    JOIN_TIMER,
    REGEX_TIMER,
    SYNC_TIMER,
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


@pytest.mark.parametrize("key", TEXTS, ids=text_of)
def test_the_key_of_a_timer_is_one_text(key: TimerKey) -> None:
    assert text_of(key) == TEXTS[key]
    assert key_of(TEXTS[key]) == key


def test_every_kind_has_a_beginning_of_its_own() -> None:
    assert BEGINNINGS.keys() == set(TimerKind)
    assert len(set(BEGINNINGS.values())) == len(TimerKind)
