"""The closing words: results of queries, each with its command, and the place of the files."""

from __future__ import annotations

from group_coordinator import settings
from group_coordinator.demo.answers import QUESTIONS
from group_coordinator.demo.board import Board
from group_coordinator.demo.closing_page import ClosingPage
from group_coordinator.demo.coordinator_figures import CoordinatorFigures
from group_coordinator.demo.folder import DemoFolder
from group_coordinator.demo.measures import Measures
from group_coordinator.demo.meters import DASHBOARD, MetersPage, on_the_dashboard, shown_of
from group_coordinator.demo.plan import Plan
from group_coordinator.demo.screen import clock


class Closing:
    """Printer of the closing words."""

    def __init__(self, page: ClosingPage, folder: DemoFolder) -> None:
        self._page = page
        self._folder = folder

    def tell(
        self,
        plan: Plan,
        board: Board[CoordinatorFigures],
        measures: Measures,
        meters: MetersPage,
    ) -> None:
        """Print all parts in order."""
        self._page.retell(board.frame().told)
        self._page.answer(QUESTIONS)
        self._show(meters)
        self._draw()
        self._farewell(plan, board, measures)

    def _show(self, meters: MetersPage) -> None:
        self._page.heading("What Prometheus could read of the job, at the end of the story")
        self._page.line(f"\n{meters.url} said, among other things:\n")
        scraped = meters.last()
        for line in shown_of(scraped):
            self._page.line(line)
        if DASHBOARD.exists():
            self._page.line(f"\n{on_the_dashboard(scraped)}: {self._folder.shown(DASHBOARD)}")

    def _draw(self) -> None:
        # matplotlib takes a second to import.
        from group_coordinator.demo.chart import draw

        self._page.interruption.check()
        draw(self._folder.tables, self._folder.chart)

    def _farewell(self, plan: Plan, board: Board[CoordinatorFigures], measures: Measures) -> None:
        page, shown = self._page, self._folder.shown
        page.heading("What is left")
        page.line(f"The tables    {shown(self._folder.tables)}")
        page.line(f"The chart     {shown(self._folder.chart)}")
        page.line(f"The meters    {shown(self._folder.meters)}: all that Prometheus could read")
        page.line(f'Ask more      {page.sql} "SHOW TABLES"')
        if plan.keep:
            page.line(f"All the rest  {shown(self._folder.path)}")
            self._carry_on(plan)
        page.line(f"Remove it     rm -r {shown(self._folder.path)}")
        page.line(f"\n{_summary(board, measures)}")

    def _carry_on(self, plan: Plan) -> None:
        # No process is left, but broker and job can start from their files.
        page = self._page
        settings_file = self._folder.shown(self._folder.settings)
        run = f"{page.program} run --with-compaction --config {settings_file}"
        if plan.bootstrap_servers is None:
            servers = settings.load(self._folder.settings).job.bootstrap_servers
            data, port = self._folder.shown(self._folder.broker), servers.rpartition(":")[2]
            page.line(f"Carry on      {page.program} broker start --data {data} --port {port}")
            page.line(f"              {run}")
        else:
            page.line(f"Carry on      {run}")


def _summary(board: Board[CoordinatorFigures], measures: Measures) -> str:
    took = f"The demo took {clock(board.elapsed_s)} minutes."
    latency = measures.overall()
    if latency is None:
        return took
    return (
        f"{measures.sent_count} requests, half of them answered within {latency.median_s:.1f} s and 99 % within "
        f"{latency.p99_s:.1f} s. {took}"
    )
