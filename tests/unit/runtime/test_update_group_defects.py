"""A defect of ours becomes a dead letter; the group goes on."""

from __future__ import annotations

import json
from base64 import b64decode

import pytest

from group_coordinator.core import coordinator
from group_coordinator.core.handlers import offset_commit
from tests.support.group_updates import lines_of
from tests.unit.runtime.group_updates import (
    COMMIT,
    FETCH,
    alive,
    call,
    committed,
    lines,
    row,
    stable,
    tags,
)


def broken(*_: object) -> None:
    raise ZeroDivisionError("planted")


def test_a_defect_is_quarantined_with_its_event_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = stable()
    monkeypatch.setattr(offset_commit, "decide", broken)

    update = call(
        row(COMMIT, 4_000, 7),
        row(FETCH, 4_000, 8),
        alive(4_000, 9),
        at_ms=4_500,
        state=before.state,
    )

    (_, letter), (_, fetched), (_, beat) = lines(update)
    assert tags(update) == "DRR"
    assert letter["reason"] == "defect: ZeroDivisionError: planted"
    assert (letter["source_offset"], letter["event_time_ms"]) == (7, 4_000)
    assert b64decode(letter["value"]) == json.dumps(COMMIT).encode()
    assert (fetched["correlationId"], beat["correlationId"]) == ("c-2", "c-4")
    undisturbed = call(alive(4_000), at_ms=4_500, state=before.state)
    assert update.state == undisturbed.state


def test_a_defect_in_a_deadline_fires_once(monkeypatch: pytest.MonkeyPatch) -> None:
    before = stable()
    with monkeypatch.context() as planted:
        planted.setattr(coordinator, "fire", broken)
        first = call(at_ms=14_000, state=before.state)
        second = call(at_ms=20_000, state=first.state)

    letter = {
        "group_id": "g",
        "source_partition": None,
        "source_offset": None,
        "reason": "defect: ZeroDivisionError: planted",
        "value": None,
        "event_time_ms": 13_000,
    }
    assert lines(first) == [("D", letter)]
    assert (lines_of(second), second.state) == ([], first.state)
    assert tags(call(alive(21_000), at_ms=21_500, state=second.state)) == "R"


def test_a_defect_in_a_sweep_does_not_fire_again_before_the_next_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = committed()
    with monkeypatch.context() as planted:
        planted.setattr(coordinator, "fire", broken)
        first = call(at_ms=62_000, state=before.state)
        second = call(at_ms=62_999, state=first.state)
    mended = call(at_ms=63_000, state=second.state)

    assert (tags(first), first.deadline_ms) == ("D", 62_000)
    assert (lines_of(second), second.state) == ([], first.state)
    assert (tags(mended), mended.state) == ("LL", None)


def test_a_defect_in_a_deadline_leaves_the_event_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coordinator, "fire", broken)

    update = call(row(FETCH, 61_500), at_ms=61_500, state=committed().state)

    assert tags(update) == "DR"
    assert lines(update)[1][1]["body"]["topics"][0]["name"] == "orders"
