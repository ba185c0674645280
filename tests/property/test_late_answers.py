"""Waits are noted while batches go on: what becomes known later must not make earlier decisions wrong."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from group_coordinator.core.deadlines import SLOW_MS, LateAnswers, Outages, noted
from group_coordinator.runtime.outputs import EventRow
from group_coordinator.runtime.update_group import UpdateContext
from tests.property.lives import CONFIG, CONTEXT, SLACK_MS, SWEEP_MS, Script, scripts
from tests.support.group_updates import lines_without_places, updated

_REBALANCE_DELAYS_MS = [0, 1, SLOW_MS, 3_000]


class _Job:
    """Runs batches of one group, and notes waits as it goes."""

    def __init__(self, context: UpdateContext) -> None:
        self.context = context
        self.outages: Outages = ()
        self.lines: list[str] = []
        self._state: bytes | None = None
        self._late_answers = LateAnswers()
        self._planned: list[int] = []
        self.was_cut = False

    def batch(self, rows: list[EventRow], at_ms: int, *, is_cut: bool) -> None:
        if self._planned:
            before_ms = self._planned[-1]
            asked_ms = self._planned[-2] if len(self._planned) > 1 else before_ms
            wait = self._late_answers.until(at_ms, before_ms, asked_ms, was_cut=self.was_cut)
            if wait is not None:
                self.outages = noted(self.outages, wait)
        context = replace(self.context, outages=self.outages, timers_suspended=is_cut)
        update = updated("g", self._state, rows, at_ms, context)
        self._state = update.state
        self.lines += lines_without_places(update)
        self._planned.append(at_ms)
        self.was_cut = is_cut


@given(script=scripts(), data=st.data())
def test_what_was_noted_late_is_as_if_it_had_been_known_from_the_start(
    script: Script, data: st.DataObject
) -> None:
    delay_ms = data.draw(st.sampled_from(_REBALANCE_DELAYS_MS))
    config = replace(CONFIG, group_initial_rebalance_delay_ms=delay_ms)
    context = replace(CONTEXT, config=config)
    job = _Job(context)
    end_ms = script.now_ms + data.draw(st.sampled_from([1, SLACK_MS, SLOW_MS + 1, SWEEP_MS]))
    times_ms = [row.timestamp_ms for row in script.rows] + [end_ms]
    start = 0
    cuts = data.draw(st.sets(st.integers(1, len(script.rows)), max_size=8))
    for stop in sorted(cuts | {len(script.rows)}):
        # What a limit leaves unread was there when the batch was planned, after all that it takes.
        is_later = times_ms[stop - 1] < times_ms[stop]
        if job.was_cut and not is_later:
            continue
        is_cut = is_later and stop < len(script.rows) and data.draw(st.booleans())
        job.batch(script.rows[start:stop], times_ms[stop], is_cut=is_cut)
        start = stop

    whole = updated("g", None, script.rows, end_ms, replace(context, outages=job.outages))

    assert job.lines == lines_without_places(whole)
