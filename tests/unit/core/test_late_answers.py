"""Waits by the times at which batches were planned, and the sessions of those who waited."""

from __future__ import annotations

import pytest

from group_coordinator.core.deadlines import SLOW_MS, LateAnswers, Outage, Outages, due_after, noted
from group_coordinator.core.model.timers import Timer


def waits(plans_ms: list[int], cut: set[int]) -> Outages:
    """Of batches that were planned at these times; those in `cut` left events unread."""
    answers, known = LateAnswers(), ()
    for batch in range(1, len(plans_ms)):
        wait = answers.until(
            plans_ms[batch],
            plans_ms[batch - 1],
            plans_ms[max(batch - 2, 0)],
            was_cut=batch - 1 in cut,
        )
        if wait is not None:
            known = noted(known, wait)
    return known


@pytest.mark.parametrize(
    ("took_ms", "expected"), [(SLOW_MS, ()), (SLOW_MS + 1, ((1_100, 3_101, True, 1_000),))]
)
def test_a_batch_that_takes_long_answers_late_what_came_while_the_one_before_it_ran(
    took_ms: int, expected: tuple[tuple[int, int, bool, int], ...]
) -> None:
    assert waits([1_000, 1_100, 1_100 + took_ms], set()) == tuple(Outage(*of) for of in expected)


@pytest.mark.parametrize(
    ("plans_ms", "cut", "asked_ms", "session_ms"),
    [
        ([100_000, 100_900, 101_050, 108_053], {1}, 100_147, 6_000),
        ([0, 20_000, 40_000, 60_000, 110_000], {1, 2}, 5_000, 45_000),
    ],
    ids=["a short backlog", "a long one"],
)
def test_who_asked_in_a_backlog_is_answered_by_the_batch_that_reads_the_last_of_it(
    plans_ms: list[int], cut: set[int], asked_ms: int, session_ms: int
) -> None:
    """And has its whole session from then on, however long that batch takes."""
    session = Timer(armed_ms=asked_ms, due_ms=asked_ms + session_ms)

    assert due_after(session, waits(plans_ms, cut)) == plans_ms[-1] + session_ms


def test_who_asks_after_a_backlog_waits_for_its_own_batch_alone() -> None:
    known = waits([0, 5_000, 6_000, 7_000, 7_100, 7_200], {1, 2})

    assert due_after(Timer(armed_ms=7_010, due_ms=13_010), known) == 13_010
