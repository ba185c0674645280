"""The closing words: results of queries, each with its command, and the place of the files."""

from __future__ import annotations

import os
import sys
import webbrowser
from datetime import UTC, datetime, timedelta

from rich.text import Text

from group_coordinator import settings
from group_coordinator.cli.option_types import duration_ms_of
from group_coordinator.cli.query_table import print_table
from group_coordinator.clients import sql_tables
from group_coordinator.clients.moment import Moment
from group_coordinator.clients.what_if import what_if
from group_coordinator.demo.board import Board
from group_coordinator.demo.closing_page import ClosingPage
from group_coordinator.demo.commands import program
from group_coordinator.demo.folder import DemoFolder
from group_coordinator.demo.mirror.answers import QUESTIONS, about, first_reset, offsets_of
from group_coordinator.demo.mirror.cast import NEWSLETTER, RECOMMENDATIONS
from group_coordinator.demo.mirror.figures import MirrorFigures
from group_coordinator.demo.mirror.plan import CLUSTER, MirrorPlan
from group_coordinator.demo.screen import clock
from group_coordinator.local.child_process import ChildProcess

_OTHER_RETENTION = "15s"
_GRID = "offsets.retention.check.interval.ms"


class Closing:
    """Printer of the closing words."""

    def __init__(self, page: ClosingPage, folder: DemoFolder, plan: MirrorPlan) -> None:
        self._page = page
        self._folder = folder
        self._plan = plan
        self._tables = str(folder.tables)

    def tell(self, board: Board[MirrorFigures]) -> None:
        """Print all parts in order."""
        asked = [about(question, self._plan.prefix) for question in QUESTIONS]
        self._page.retell(board.frame().told)
        self._page.answer(asked)
        self._look_back(len(asked) + 1)
        self._try_another_retention(len(asked) + 2)
        self._report()
        self._farewell(board)

    def _look_back(self, number: int) -> None:
        group = self._plan.named(RECOMMENDATIONS.group_id)
        self._title(
            f"{number}. What did the tables say of {group}, a second before it was set back?"
        )
        [found] = sql_tables.rows(self._tables, first_reset(group))
        if found["at"] is None:
            self._page.line("Nobody set it back: the story tells why the administrator could not.")
            return
        moment = found["at"] - timedelta(seconds=1)
        sql = offsets_of(group)
        self._show_command("sql", sql, "--as-of", moment.isoformat(timespec="seconds"))
        config = settings.load(self._folder.settings).coordinator
        print_table(sql_tables.query(self._tables, sql, Moment(moment, config)))

    def _try_another_retention(self, number: int) -> None:
        groups = [self._plan.named(role.group_id) for role in (NEWSLETTER, RECOMMENDATIONS)]
        self._title(
            f"{number}. What would {' and '.join(groups)} have lost with a retention of {_OTHER_RETENTION}?"
        )
        chosen = [word for group in groups for word in ("--group", group)]
        grid = f"{_GRID}=1000"
        self._show_command("what-if", "--retention", _OTHER_RETENTION, *chosen, "--set", grid)
        tried = [grid, f"offsets.retention.ms={duration_ms_of(_OTHER_RETENTION)}"]
        config = settings.load(self._folder.settings, tried).coordinator
        print_table(what_if(self._tables, Moment(datetime.now(UTC), config), groups))

    def _report(self) -> None:
        # In a process of its own: it takes a second, mostly for the import of the chart library, and Ctrl-C must end
        # that too.
        self._page.heading("The report")
        tables, file = self._folder.tables, self._folder.report
        words = ("report", "--cluster", CLUSTER, "--hours", "1", "--output")
        self._show_command(*words, self._folder.shown(file))
        command = program(*words, str(file), "--tables", str(tables))
        process = ChildProcess("The report", command, self._folder.output("report"))
        try:
            process.await_success(self._page.interruption.pause)
        finally:
            process.end()
        if self._page.console.is_terminal and _has_display():
            webbrowser.open(file.as_uri())

    def _show_command(self, *words: str) -> None:
        self._page.interruption.check()
        typed = (self._page.program, *words, "--tables", self._folder.shown(self._folder.tables))
        self._page.line(Text(f"{_typed(typed)}\n", style="cyan"))

    def _title(self, text: str) -> None:
        self._page.line(Text(f"\n{text}\n", style="bold"))

    def _farewell(self, board: Board[MirrorFigures]) -> None:
        page, shown = self._page, self._folder.shown
        page.heading("What is left")
        page.line(f"The report    {shown(self._folder.report)}: open it in a browser")
        page.line(f"The tables    {shown(self._folder.tables)}")
        page.line(f'Ask more      {page.sql} "SHOW TABLES"')
        if self._plan.keep:
            page.line(f"All the rest  {shown(self._folder.path)}")
        page.line(f"Remove it     rm -r {shown(self._folder.path)}")
        page.line(
            "Your cluster  "
            f"{page.program} mirror --bootstrap-server HOST:PORT --cluster NAME --with-compaction"
        )
        page.line(f"\nThe demo took {clock(board.elapsed_s)} minutes.")


def _typed(words: tuple[str, ...]) -> str:
    # The SQL has no character that is special in double quotes.
    return " ".join(f'"{word}"' if " " in word else word for word in words)


def _has_display() -> bool:
    return sys.platform == "darwin" or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
