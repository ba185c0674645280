"""Parts of the closing page: headings, lines, the story again, results of queries with their commands, the report."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from group_coordinator.cli.query_output import print_table
from group_coordinator.clients import sql_tables
from group_coordinator.demo.screen import clock, story_lines
from group_coordinator.demo.stage import DemoFolder, Interruption, program, typed_name
from group_coordinator.demo.story import Happening
from group_coordinator.demo.tables_watch import ViewQuestion
from group_coordinator.local.child_process import ChildProcess


class ClosingPage:
    """Printer of these parts, in order."""

    def __init__(self, console: Console, folder: DemoFolder, interruption: Interruption) -> None:
        self.console = console
        self.folder = folder
        self.program = typed_name(folder)
        self.tables = str(folder.tables)
        self._interruption = interruption
        self._questions = 0

    @property
    def shown_tables(self) -> tuple[str, str]:
        """The option that the user types for the tables."""
        return "--tables", self.folder.shown(self.folder.tables)

    def heading(self, text: str) -> None:
        """Print a line across the page."""
        self.console.print()
        self.console.print(Rule(text, align="left"))

    def line(self, text: str | Text) -> None:
        """Print a line of any length."""
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def repeat(self, story: Sequence[Happening]) -> None:
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

    def answer(self, questions: Iterable[ViewQuestion], prefix: str) -> None:
        """Print each question with its command and its output."""
        self.heading("The tables' answers, read without Spark (times are UTC)")
        for question in questions:
            sql = question.sql(prefix)
            self.question(question.text, "sql", *self.shown_tables, sql)
            print_table(sql_tables.query(self.tables, sql))

    def question(self, text: str, *words: str) -> None:
        """Print the next question, and the command that answers it."""
        self._interruption.check()
        self._questions += 1
        self.line(Text(f"\n{self._questions}. {text}\n", style="bold"))
        self.command(*words)

    def command(self, *words: str) -> None:
        """Print a command of group-coordinator as the user types it."""
        typed = " ".join(f'"{word}"' if " " in word else word for word in (self.program, *words))
        self.line(Text(f"{typed}\n", style="cyan"))

    def report(self, cluster: str) -> None:
        """Write the report of a cluster, and open it if there is a display."""
        self.heading("The report: all of it on a page, with charts")
        words = ("report", "--cluster", cluster, "--hours", "1", "--output")
        file = self.folder.report
        self.command(*words, self.folder.shown(file), *self.shown_tables)
        # In a process of its own: it takes a second, mostly for the import of the chart library, and Ctrl-C must end
        # that too.
        command = program(*words, str(file), "--tables", self.tables)
        process = ChildProcess("The report", command, self.folder.output("report"))
        try:
            process.await_success(self._interruption.pause)
        finally:
            process.end()
        if self.console.is_terminal and _has_display():
            webbrowser.open(file.as_uri())


def _sentence(happening: Happening) -> Table:
    """Return a sentence behind its time, on as many lines as it needs."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(justify="right", min_width=5, no_wrap=True)
    grid.add_row(clock(happening.at_s), Text(happening.sentence))
    return grid


def _has_display() -> bool:
    return sys.platform == "darwin" or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
