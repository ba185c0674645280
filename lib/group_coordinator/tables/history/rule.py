"""How thin history may be, by its age. Whole days in UTC change at once, so that a table is rewritten once a day."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from group_coordinator.tables.instants import shown_ms
from group_coordinator.tables.views.recent_changes import RECENT_HOURS

DAY_MS = 86_400_000
OPEN_MS = (RECENT_HOURS + 1) * 3_600_000
"""How long a day stays as it is after its end: files that are sorted by group have rows of all times, and who asks for the
last hours would read them all. An hour more: now is the newest sample, which may be a little old."""
STEP_MS = 31 * DAY_MS
"""The length of a stretch; stretches are counted from 1970."""


class HistoryRule(NamedTuple):
    """How long a table keeps every row, and then how long rows of every hour; 0: for ever."""

    full_ms: int
    hourly_ms: int = 0


class Cut(NamedTuple):
    """Where history changes, each a midnight, in milliseconds.

    Rows from `closed_ms` on are left alone. Before `hourly_ms` an hour keeps few ordinary rows, before `daily_ms` a day does.
    """

    closed_ms: int
    hourly_ms: int
    daily_ms: int


def cut_now(rule: HistoryRule, done_ms: int, now_ms: int) -> Cut | None:
    """Where history changes now; None: it does not, or days have been closed up to `done_ms`, and none since."""
    closed_ms = midnight(now_ms - OPEN_MS)
    if not rule.full_ms or closed_ms <= done_ms:
        return None
    hourly_ms = min(closed_ms, midnight(shown_ms(now_ms - rule.full_ms)))
    daily_ms = min(hourly_ms, midnight(shown_ms(now_ms - rule.hourly_ms))) if rule.hourly_ms else 0
    return Cut(closed_ms, hourly_ms, daily_ms)


def steps(cut: Cut, stretches: Collection[int]) -> Iterator[Cut]:
    """The steps to a cut: one for each stretch with rows before it, in order. Each step relies on the steps before it.

    Stretches without rows have no step, as the time of a row may be any year.
    """
    for stretch in stretches:
        end_ms = (stretch + 1) * STEP_MS
        if end_ms < cut.closed_ms:
            yield Cut(end_ms, min(cut.hourly_ms, end_ms), min(cut.daily_ms, end_ms))
    if stretches:
        yield cut


def midnight(time_ms: int) -> int:
    """The beginning of the day in UTC."""
    return time_ms // DAY_MS * DAY_MS
