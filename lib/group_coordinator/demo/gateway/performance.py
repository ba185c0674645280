"""A performance: the screen, the story, and the closing words."""

from __future__ import annotations

from rich.console import Console

from group_coordinator.demo.board import Board
from group_coordinator.demo.closing_page import ClosingPage
from group_coordinator.demo.gateway.closing import tell
from group_coordinator.demo.gateway.conductor import Conductor
from group_coordinator.demo.gateway.figures import LOOK, GatewayFigures
from group_coordinator.demo.gateway.plan import GatewayPlan
from group_coordinator.demo.interruption import Interruption
from group_coordinator.demo.stage import display, in_folder, new_folder


def perform(plan: GatewayPlan, interruption: Interruption) -> None:
    """Play the demo, then print the closing words.

    Raises:
        ClientError: a consumer gave up.
        CommandFailedError: the job, its gateway or the console consumer ended.
        Interrupted: the user ended it; the message lists the files that are left.
    """
    folder = new_folder()
    board = Board(GatewayFigures(), plan.expected_s)
    page = ClosingPage(Console(), folder, interruption)
    with in_folder(folder, keep=plan.keep):
        with display(page.console, board, LOOK):
            Conductor(plan, folder, board, interruption).perform()
        tell(page, folder, board, keep=plan.keep)
