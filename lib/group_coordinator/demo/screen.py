"""Display of a running demo, live on 80 by 24 characters or more, or as plain lines without a terminal; and the closing page."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import NamedTuple, Protocol

from rich.bar import Bar
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.layout import Layout
from rich.live import Live
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from group_coordinator.background import Background, repeat
from group_coordinator.cli.query_output import print_table
from group_coordinator.clients import sql_tables
from group_coordinator.demo.stage import DemoFolder, Interruption, program, typed_name
from group_coordinator.demo.story import Board, Frame, StoryEvent
from group_coordinator.demo.tables_watch import ViewQuestion
from group_coordinator.local.child_process import ChildProcess

_HINT = "Ctrl-C ends the demo; nothing is left running."
_FIGURES_HEIGHT = 9
_FRAME_HEIGHT, _FRAME_WIDTH = 2, 4
"""Lines and columns of a panel's borders and padding."""
_GAP = "  "
_LINES_INTERVAL_S = 5.0


class ShowFigures(Protocol):
    def panels(self) -> Sequence[RenderableType]: ...

    def line(self) -> str | None: ...


class PanelLine(NamedTuple):
    name: str
    value: str
    meaning: str
    style: str = ""


def display(
    console: Console, board: Board, title: str, figures: Callable[[], ShowFigures]
) -> AbstractContextManager[object]:
    """Return a screen that fills the terminal while the block runs; without a terminal, plain lines."""
    if console.is_terminal:
        return Live(
            console=console,
            get_renderable=lambda: picture(board.frame(), title, figures()),
            screen=True,
            refresh_per_second=4,
        )

    def write(text: str) -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    def write_figures() -> None:
        frame, line = board.frame(), figures().line()
        if line is not None and not frame.is_ending:
            write(f"{clock(frame.elapsed_s):>5}  [{line}]")

    board.listen(lambda happening: write("\n".join(story_lines(happening))))
    return Background(partial(repeat, write_figures, interval_s=_LINES_INTERVAL_S), "figures")


def story_lines(happening: StoryEvent) -> list[str]:
    return [
        f"{clock(happening.at_s):>5}  {happening.sentence}",
        *(f"       {line}" for line in happening.detail),
    ]


def clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def shown(value: float | None, unit: str = "") -> str:
    """Return a value, or a dash while it is not known."""
    if value is None:
        return "-"
    return f"{value}{unit}" if isinstance(value, int) else f"{value:.1f}{unit}"


def panel(
    title: str, figures: Iterable[PanelLine], shares: Sequence[tuple[int, str]] = ()
) -> RenderableType:
    """Return a panel of figures, and below them a bar that counts divide; a share is a count and a style."""
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(no_wrap=True, min_width=7)
    table.add_column(no_wrap=True, min_width=6, justify="right")
    table.add_column(no_wrap=True, style="dim", ratio=1)
    for figure in figures:
        table.add_row(Text(figure.name, style=figure.style), figure.value, figure.meaning)
    content = Group(table, "", _StackedBar(shares)) if shares else table
    return Panel(content, title=title, title_align="left")


class _StackedBar:
    def __init__(self, shares: Sequence[tuple[int, str]]) -> None:
        self._shares = shares

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        total = sum(count for count, _ in self._shares)
        line = Text(no_wrap=True)
        end, filled = 0, 0
        for count, style in self._shares:
            end += count
            upto = round(end / total * options.max_width) if total else 0
            line.append("━" * (upto - filled), style)
            filled = upto
        yield line


def picture(frame: Frame, title: str, figures: ShowFigures) -> RenderableType:
    layout = Layout()
    panels = Layout(size=_FIGURES_HEIGHT)
    panels.split_row(*map(Layout, figures.panels()))
    layout.split_column(
        Layout(_heading(frame, title), size=2),
        Layout(_now(frame), size=3),
        panels,
        Layout(_StoryPanel(frame.story)),
        Layout(Text(_HINT, style="dim", no_wrap=True), size=1),
    )
    return layout


def _heading(frame: Frame, title: str) -> RenderableType:
    line = Table.grid(expand=True)
    line.add_column(no_wrap=True)
    line.add_column(justify="right", no_wrap=True)
    line.add_row(
        Text(title, style="bold"),
        Text(f"{clock(frame.elapsed_s)} of about {clock(frame.expected_s)}"),
    )
    share = min(1.0, frame.elapsed_s / frame.expected_s) if frame.expected_s else 0.0
    return Group(line, Bar(1.0, 0, share, color="cyan", bgcolor="grey23"))


def _now(frame: Frame) -> RenderableType:
    if frame.is_ending:
        return Text("Ending: all processes of the demo are being stopped.", style="bold yellow")
    return Text.assemble(("Now: ", "bold cyan"), frame.now)


class _StoryPanel:
    def __init__(self, story: tuple[StoryEvent, ...]) -> None:
        self._story = story

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        height = options.height or options.max_height
        # The newest lines stay.
        lines: deque[Text] = deque(maxlen=max(0, height - _FRAME_HEIGHT))
        for happening in self._story:
            lines.extend(_wrapped(console, options.max_width - _FRAME_WIDTH, happening))
        yield Panel(Group(*lines), title="What happened", title_align="left", height=height)


def _wrapped(console: Console, width: int, happening: StoryEvent) -> Iterator[Text]:
    margin = Text(f"{clock(happening.at_s):>5}  ", style="dim")
    for line in Text(happening.sentence).wrap(console, width - len(margin)):
        yield margin + line
        margin = Text(" " * len(margin))
    for text in squeezed(happening.detail):
        detail = Text(text, style="cyan")
        if _GAP in text:
            detail.truncate(width - len(margin), overflow="ellipsis")
            yield margin + detail
        else:
            yield from (margin + line for line in detail.wrap(console, width - len(margin)))


def squeezed(lines: Sequence[str]) -> list[str]:
    """Return a table with narrower gaps, so that more of it fits; lines without gaps are none of its rows."""
    width = max(map(len, lines), default=0)
    rows = [line.ljust(width) for line in lines if _GAP in line]
    is_blank = [all(row[at] == " " for row in rows) for at in range(width)]
    kept = [at for at in range(width) if not (at > 1 and all(is_blank[at - 2 : at + 1]))]
    return [
        "".join(line.ljust(width)[at] for at in kept).rstrip() if _GAP in line else line
        for line in lines
    ]


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
        return "--tables", self.folder.shown(self.folder.tables)

    def heading(self, text: str) -> None:
        self.console.print()
        self.console.print(Rule(text, align="left"))

    def line(self, text: str | Text) -> None:
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def repeat(self, story: Sequence[StoryEvent]) -> None:
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


def _sentence(happening: StoryEvent) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(justify="right", min_width=5, no_wrap=True)
    grid.add_row(clock(happening.at_s), Text(happening.sentence))
    return grid


def _has_display() -> bool:
    return sys.platform == "darwin" or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
