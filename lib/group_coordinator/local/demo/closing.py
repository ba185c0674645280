"""The last words: what the tables tell, each answer with the command that gives it, and where everything is."""

from __future__ import annotations

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from group_coordinator.cli.query_output import print_table
from group_coordinator.clients import delta_tables
from group_coordinator.local.demo.answers import QUESTIONS, Question
from group_coordinator.local.demo.board import Board
from group_coordinator.local.demo.commands import typed_name
from group_coordinator.local.demo.folder import DemoFolder
from group_coordinator.local.demo.interruption import Interruption
from group_coordinator.local.demo.measures import Measures
from group_coordinator.local.demo.plan import Plan
from group_coordinator.local.demo.screen import clock


class Closing:
    """Prints below each other what the user is left with."""

    def __init__(self, console: Console, folder: DemoFolder, interruption: Interruption) -> None:
        self._console = console
        self._folder = folder
        self._interruption = interruption
        self._sql = f"{typed_name()} sql --tables {folder.shown(folder.tables)}"

    def answer(self) -> None:
        """Question, command, answer, one after the other."""
        self._console.print(Rule("What the tables tell (read without Spark; times are UTC)"))
        for number, question in enumerate(QUESTIONS, 1):
            self._interruption.check()
            self._print_answer(number, question)

    def _print_answer(self, number: int, question: Question) -> None:
        self._line(Text(f"\n{number}. {question.text}\n", style="bold"))
        self._line(Text(f'{self._sql} "{question.sql}"\n', style="cyan"))
        print_table(delta_tables.query(str(self._folder.tables), question.sql))

    def draw(self) -> None:
        """The chart."""
        # matplotlib takes a second to import.
        from group_coordinator.local.demo.chart import draw  # noqa: PLC0415

        self._interruption.check()
        draw(self._folder.tables, self._folder.chart)

    def farewell(self, plan: Plan, board: Board, measures: Measures) -> None:
        """Where everything is."""
        self._console.print(Rule("What is left"))
        shown = self._folder.shown
        self._line(f"The tables  {shown(self._folder.tables)}")
        self._line(f"The chart   {shown(self._folder.chart)}")
        if plan.keep:
            self._carry_on()
        self._line(f'Ask on      {self._sql} "SHOW TABLES"')
        self._line(f"Remove it   rm -r {shown(self._folder.path)}")
        self._line(f"\n{_summary(board, measures)}")

    def _carry_on(self) -> None:
        """The broker is a process, and none is left behind: its data are, so that it can go on."""

    def _line(self, text: str | Text) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


def _summary(board: Board, measures: Measures) -> str:
    latency = measures.overall()
    answers = (
        f", half of them answered within {latency.median_s:.1f} s and 99 % within {latency.p99_s:.1f} s"
        if latency
        else ""
    )
    return (
        f"{measures.sent_count} requests{answers}. The demo took {clock(board.elapsed_s)} minutes."
    )
