"""The closing words: the gateway's counters, results of queries, and the place of the files."""

from __future__ import annotations

from group_coordinator.demo.board import Board
from group_coordinator.demo.closing_page import ClosingPage
from group_coordinator.demo.folder import DemoFolder
from group_coordinator.demo.gateway.answers import QUESTIONS
from group_coordinator.demo.gateway.figures import GatewayFigures
from group_coordinator.demo.gateway.figures import line as figures_line
from group_coordinator.demo.screen import clock


def tell(
    page: ClosingPage, folder: DemoFolder, board: Board[GatewayFigures], *, keep: bool
) -> None:
    """Print all parts in order."""
    frame = board.frame()
    page.retell(frame.told)
    page.answer(QUESTIONS)
    page.heading("What is left")
    page.line(f"The tables    {folder.shown(folder.tables)}")
    page.line(f'Ask more      {page.sql} "SHOW TABLES"')
    if keep:
        page.line(f"All the rest  {folder.shown(folder.path)}")
    page.line(f"Remove it     rm -r {folder.shown(folder.path)}")
    page.line(f"Your cluster  {page.program} gateway --bootstrap-server HOST:PORT")
    page.line(f"\nAt the end: {figures_line(frame.figures)}.")
    page.line(f"The demo took {clock(frame.elapsed_s)} minutes.")
