"""One performance: the screen, the play, and the closing words."""

from __future__ import annotations

import logging
import time
from pathlib import Path

from rich.console import Console

from group_coordinator.demo.board import Board
from group_coordinator.demo.closing import Closing
from group_coordinator.demo.conductor import Conductor
from group_coordinator.demo.folder import DemoFolder
from group_coordinator.demo.interruption import Interrupted, Interruption
from group_coordinator.demo.plain import PlainLines
from group_coordinator.demo.plan import Plan
from group_coordinator.demo.screen import Screen


def perform(plan: Plan, interruption: Interruption) -> None:
    """Play the demo, then print the closing words.

    Raises:
        CastError: the plan is impossible.
        Interrupted: the user ended it; the message says what is left of the demo.
    """
    folder = DemoFolder(Path.cwd() / time.strftime("group-coordinator-demo-%Y%m%d-%H%M%S"))
    board = Board(plan.expected_s)
    conductor = Conductor(plan, folder, board, interruption)
    folder.make()
    # Messages of libraries must not spoil the screen.
    logging.basicConfig(filename=folder.output("demo"), level=logging.WARNING)
    closing = Closing(Console(), folder, interruption)
    try:
        with _display(closing.console, board):
            conductor.perform()
        closing.tell(plan, board, conductor.measures)
    except Interrupted as wish:
        if plan.keep:
            wish.args = (
                f"Interrupted. Nothing runs any more; what there is so far is in {folder.path}.",
            )
        else:
            folder.remove()
        raise
    if not plan.keep:
        folder.remove_scaffolding()


def _display(console: Console, board: Board) -> Screen | PlainLines:
    if console.is_terminal:
        return Screen(console, board, "Ctrl-C ends the demo; nothing is left running.")
    return PlainLines(console, board)
