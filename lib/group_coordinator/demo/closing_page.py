"""Parts of the closing words: headings, lines, the story again, and results of queries with their commands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from group_coordinator.cli.query_table import print_table
from group_coordinator.clients import sql_tables
from group_coordinator.demo.board import Happening
from group_coordinator.demo.commands import typed_name
from group_coordinator.demo.folder import DemoFolder
from group_coordinator.demo.interruption import Interruption
from group_coordinator.demo.plain import story_lines
from group_coordinator.demo.question import Question
from group_coordinator.demo.screen import clock


class ClosingPage:
    """Printer of these parts, in order."""

    def __init__(self, console: Console, folder: DemoFolder, interruption: Interruption) -> None:
        self.console = console
        self.interruption = interruption
        self.program = typed_name()
        self._tables = folder.tables
        self.sql = f"{self.program} sql --tables {folder.shown(folder.tables)}"

    def heading(self, text: str) -> None:
        """Print a line across the page."""
        self.console.print()
        self.console.print(Rule(text, align="left"))

    def line(self, text: str | Text) -> None:
        """Print a line of any length."""
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def retell(self, story: Sequence[Happening]) -> None:
        """Print the story again if it was on the screen, which has removed it."""
        if self.console.is_terminal:
            self.heading("What happened")
            for happening in story:
                first, *details = story_lines(happening)
                if happening.sentence.startswith("$"):
                    self.line(first)  # it can be copied as it is
                else:
                    self.console.print(_sentence(happening))
                for detail in details:
                    self.line(detail)

    def answer(self, questions: Iterable[Question]) -> None:
        """Print each question with its command and its output."""
        self.heading("What the tables tell, read without Spark (times are UTC)")
        for number, question in enumerate(questions, 1):
            self.interruption.check()
            self.line(Text(f"\n{number}. {question.text}\n", style="bold"))
            self.line(Text(f'{self.sql} "{question.sql}"\n', style="cyan"))
            print_table(sql_tables.query(str(self._tables), question.sql))


def _sentence(happening: Happening) -> Table:
    """Return a sentence behind its time, on as many lines as it needs."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(justify="right", min_width=5, no_wrap=True)
    grid.add_row(clock(happening.at_s), Text(happening.sentence))
    return grid
