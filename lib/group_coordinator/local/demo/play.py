"""The part of the demo that is watched: everybody on the stage, moved on step by step."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from group_coordinator.local.demo.board import Board
from group_coordinator.local.demo.commands import Administrator
from group_coordinator.local.demo.fleet import Arrivals, Fleet, Shifts
from group_coordinator.local.demo.measures import Measures
from group_coordinator.local.demo.story import Story
from group_coordinator.local.demo.survey import Survey

_ARRIVAL_S = 7.0
"""In this time everybody comes."""
_FIRST_SHIFT_S, _SHIFT_S = 16.0, 4.0
"""When the first application changes a member, and how often one does from then on."""


@dataclass
class Play:
    """All who act, and the board that shows how they do."""

    fleet: Fleet
    arrivals: Arrivals
    shifts: Shifts
    story: Story
    administrator: Administrator
    survey: Survey
    measures: Measures
    board: Board
    _next_shift_s: float = _FIRST_SHIFT_S

    def tick(self, story_s: float, now_s: float) -> None:
        """Everybody does what is due at this time of the story."""
        self.arrivals.tick(ceil(self.arrivals.total * min(1.0, story_s / _ARRIVAL_S)))
        if story_s >= self._next_shift_s:
            self._next_shift_s += _SHIFT_S
            self.shifts.change()
        self.story.tick(story_s)
        self.fleet.tick(now_s)
        self.administrator.tick()
        self.survey.tick(now_s, self.fleet.group_ids)
        self.board.show(
            group_states=self.survey.states,
            member_count=self.survey.member_count,
            requests_per_s=self.measures.requests_per_s(),
            latency=self.measures.recent(),
        )
