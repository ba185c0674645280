"""A performance: the screen, the story, and the closing words."""

from __future__ import annotations

from rich.console import Console

from group_coordinator.demo.board import Board
from group_coordinator.demo.closing import Closing
from group_coordinator.demo.closing_page import ClosingPage
from group_coordinator.demo.conductor import Conductor
from group_coordinator.demo.coordinator_figures import LOOK, CoordinatorFigures
from group_coordinator.demo.interruption import Interruption
from group_coordinator.demo.plan import Plan
from group_coordinator.demo.stage import display, in_folder, new_folder


def perform(plan: Plan, interruption: Interruption) -> None:
    """Play the demo, then print the closing words.

    Raises:
        CastError: the plan is impossible.
        Interrupted: the user ended it; the message lists the files that are left.
    """
    folder = new_folder()
    board = Board(CoordinatorFigures(), plan.expected_s)
    conductor = Conductor(plan, folder, board, interruption)
    page = ClosingPage(Console(), folder, interruption)
    with in_folder(folder, keep=plan.keep):
        with display(page.console, board, LOOK):
            conductor.perform()
        Closing(page, folder).tell(plan, board, conductor.measures, conductor.meters)
