"""The closing words: answers of the tables, each with its command, and where everything is."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from group_coordinator import settings
from group_coordinator.cli.query_table import print_table
from group_coordinator.clients import sql_tables
from group_coordinator.demo.answers import QUESTIONS, Question
from group_coordinator.demo.board import Board, Happening
from group_coordinator.demo.commands import typed_name
from group_coordinator.demo.folder import DemoFolder
from group_coordinator.demo.interruption import Interruption
from group_coordinator.demo.measures import Measures
from group_coordinator.demo.plain import story_lines
from group_coordinator.demo.plan import Plan
from group_coordinator.demo.screen import clock


class Closing:
    """Prints the parts of the closing words below each other."""

    def __init__(self, console: Console, folder: DemoFolder, interruption: Interruption) -> None:
        self.console = console
        self._folder = folder
        self._interruption = interruption
        self._program = typed_name()
        self._sql = f"{self._program} sql --tables {folder.shown(folder.tables)}"

    def tell(self, plan: Plan, board: Board, measures: Measures) -> None:
        """Everything, in order."""
        if self.console.is_terminal:
            # The screen is gone, and with it the story.
            self._retell(board.frame().told)
        self._answer()
        self._draw()
        self._farewell(plan, board, measures)

    def _retell(self, story: Sequence[Happening]) -> None:
        self._heading("What happened")
        for happening in story:
            self._line("\n".join(story_lines(happening)))

    def _answer(self) -> None:
        self._heading("What the tables tell, read without Spark (times are UTC)")
        for number, question in enumerate(QUESTIONS, 1):
            self._interruption.check()
            self._print_answer(number, question)

    def _print_answer(self, number: int, question: Question) -> None:
        self._line(Text(f"\n{number}. {question.text}\n", style="bold"))
        self._line(Text(f'{self._sql} "{question.sql}"\n', style="cyan"))
        print_table(sql_tables.query(str(self._folder.tables), question.sql))

    def _draw(self) -> None:
        # matplotlib takes a second to import.
        from group_coordinator.demo.chart import draw

        self._interruption.check()
        draw(self._folder.tables, self._folder.chart)

    def _farewell(self, plan: Plan, board: Board, measures: Measures) -> None:
        shown = self._folder.shown
        self._heading("What is left")
        self._line(f"The tables    {shown(self._folder.tables)}")
        self._line(f"The chart     {shown(self._folder.chart)}")
        self._line(f'Ask more      {self._sql} "SHOW TABLES"')
        if plan.keep:
            self._line(f"All the rest  {shown(self._folder.path)}")
            self._carry_on(plan)
        self._line(f"Remove it     rm -r {shown(self._folder.path)}")
        self._line(f"\n{_summary(board, measures)}")

    def _carry_on(self, plan: Plan) -> None:
        """No process is left; broker and job can go on from their files."""
        settings_file = self._folder.shown(self._folder.settings)
        run = f"{self._program} run --with-compaction --config {settings_file}"
        if plan.bootstrap_servers is None:
            servers = settings.load(self._folder.settings).job.bootstrap_servers
            data, port = self._folder.shown(self._folder.broker), servers.rpartition(":")[2]
            self._line(f"Carry on      {self._program} broker start --data {data} --port {port}")
            self._line(f"              {run}")
        else:
            self._line(f"Carry on      {run}")

    def _heading(self, text: str) -> None:
        self.console.print()
        self.console.print(Rule(text, align="left"))

    def _line(self, text: str | Text) -> None:
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)


def _summary(board: Board, measures: Measures) -> str:
    took = f"The demo took {clock(board.elapsed_s)} minutes."
    latency = measures.overall()
    if latency is None:
        return took
    return (
        f"{measures.sent_count} requests, half of them answered within {latency.median_s:.1f} s and 99 % within "
        f"{latency.p99_s:.1f} s. {took}"
    )
