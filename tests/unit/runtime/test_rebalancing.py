"""Classic groups say that they rebalance, which no record of the log says."""

from __future__ import annotations

from dataclasses import replace

from group_coordinator.runtime.update_group import GroupUpdate
from tests.unit.runtime.group_updates import COMMIT, CONTEXT, JOIN, alive, call, lines, row, stable

TELLING = replace(CONTEXT, reports_rebalancing=True)


def told(update: GroupUpdate) -> list[str | None]:
    return [line["state"] for tag, line in lines(update) if tag == "S"]


def test_a_group_says_it_in_every_call_while_it_rebalances_and_once_more() -> None:
    joined = call(row(JOIN, 0), at_ms=0, context=TELLING)
    assert told(joined) == ["PreparingRebalance"]
    idle = call(at_ms=500, state=joined.state, context=TELLING)
    assert told(idle) == ["PreparingRebalance"]
    completing = call(at_ms=4_100, state=idle.state, context=TELLING)
    assert told(completing) == ["CompletingRebalance"]
    gone = call(at_ms=200_000, state=completing.state, context=TELLING)
    assert told(gone) == [None]
    assert told(call(at_ms=300_000, state=gone.state, context=TELLING)) == []


def test_a_rebalance_within_a_call_needs_no_word() -> None:
    settled = stable()

    assert told(call(alive(4_000), at_ms=4_000, state=settled.state, context=TELLING)) == []
    assert told(call(row(COMMIT, 1), at_ms=1, context=TELLING)) == []


def test_nobody_says_it_where_nobody_measures() -> None:
    assert told(call(row(JOIN, 0), at_ms=0)) == []
