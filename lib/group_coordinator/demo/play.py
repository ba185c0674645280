"""The visible part of the demo: all applications and scenes, a step at a time."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from group_coordinator.demo.board import Board
from group_coordinator.demo.commands import Administrator
from group_coordinator.demo.coordinator_figures import CoordinatorFigures
from group_coordinator.demo.fleet import Arrivals, Fleet, Shifts
from group_coordinator.demo.measures import Measures
from group_coordinator.demo.scenes import Story
from group_coordinator.demo.survey import Survey

_ARRIVAL_S = 7.0
"""Time in which all members start."""
_USUAL_ARRIVAL_S = 15.0
"""Time in which all members have usually joined."""
_PATIENCE_S = 35.0
"""Time after which the story begins even if a group has not finished its first rebalance."""
_FIRST_SHIFT_S, _SHIFT_S = 3.0, 4.0
"""Time of the first change of a member, and interval of the further changes."""


@dataclass
class Play:
    """All acting parts, and their board. The story begins after the first rebalance of all groups."""

    fleet: Fleet
    arrivals: Arrivals
    shifts: Shifts
    story: Story
    administrator: Administrator
    survey: Survey
    measures: Measures
    board: Board[CoordinatorFigures]
    remaining_s: float
    """Time from the beginning of the story to the end of the demo."""
    _opened_s: float | None = None
    _story_from_s: float | None = None
    _next_shift_s: float = _FIRST_SHIFT_S

    def story_s(self, now_s: float) -> float | None:
        """Return the time of the story; None: it has not begun."""
        return None if self._story_from_s is None else now_s - self._story_from_s

    def tick(self, now_s: float) -> None:
        """Let all parts take a step."""
        story_s = self.story_s(now_s)
        if story_s is None:
            self._arrive(now_s)
        else:
            self._change_shifts(story_s)
            self.story.tick(story_s)
        self.fleet.tick(now_s)
        self.administrator.tick()
        self.survey.tick(now_s, self.fleet.group_ids)
        self.board.show(
            group_states=self.survey.states,
            member_count=self.survey.member_count,
            consumer_group_count=self.survey.consumer_group_count,
            requests_per_s=self.measures.requests_per_s(),
            latency=self.measures.recent(),
        )

    def _arrive(self, now_s: float) -> None:
        if self._opened_s is None:
            self._opened_s = now_s
            self.board.say(self.arrivals.sentence)
            self.board.expect_end_in(_USUAL_ARRIVAL_S + self.remaining_s)
        since_s = now_s - self._opened_s
        self.arrivals.tick(ceil(self.arrivals.total * min(1.0, since_s / _ARRIVAL_S)))
        have_met = self.survey.states["Stable"] >= self.arrivals.group_count
        if have_met or since_s > _PATIENCE_S:
            self._story_from_s = now_s
            self.board.expect_end_in(self.remaining_s)

    def _change_shifts(self, story_s: float) -> None:
        if story_s >= self._next_shift_s:
            self._next_shift_s += _SHIFT_S
            self.shifts.change()
