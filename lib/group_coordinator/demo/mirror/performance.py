"""A performance: the screen, the story, and the closing words."""

from __future__ import annotations

from rich.console import Console

from group_coordinator.demo.board import Board
from group_coordinator.demo.closing_page import ClosingPage
from group_coordinator.demo.interruption import Interruption
from group_coordinator.demo.mirror.closing import Closing
from group_coordinator.demo.mirror.conductor import Conductor
from group_coordinator.demo.mirror.figures import LOOK, MirrorFigures
from group_coordinator.demo.mirror.plan import MirrorPlan
from group_coordinator.demo.stage import display, in_folder, new_folder


def perform(plan: MirrorPlan, interruption: Interruption) -> None:
    """Play the demo, then print the closing words.

    Raises:
        ClientError: a consumer gave up, or the cluster does not respond.
        CommandFailedError: the mirror ended, or did not keep up.
        Interrupted: the user ended it; the message lists the files that are left.
    """
    folder = new_folder()
    board = Board(MirrorFigures(), plan.expected_s)
    page = ClosingPage(Console(), folder, interruption)
    with in_folder(folder, keep=plan.keep):
        with display(page.console, board, LOOK):
            Conductor(plan, folder, board, interruption).perform()
        Closing(page, folder, plan).tell(board)
