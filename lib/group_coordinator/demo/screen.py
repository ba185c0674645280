"""The live screen: all parts in a frame, in plain words, on 80 by 24 characters or more."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, Generic, Self

from rich.bar import Bar
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.layout import Layout
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from group_coordinator.demo.board import Board, Figures, Frame, Happening
from group_coordinator.demo.look import Look

_FIGURES_HEIGHT = 9
_FRAME_HEIGHT, _FRAME_WIDTH = 2, 4
"""Lines and columns of a panel's borders and padding."""
_GAP = "  "


class Screen(Generic[Figures]):
    """Fills the terminal while the block runs, then restores it."""

    def __init__(
        self, console: Console, board: Board[Figures], look: Look[Figures], hint: str
    ) -> None:
        self._board = board
        self._look = look
        self._hint = hint
        self._live = Live(
            console=console, get_renderable=self._render, screen=True, refresh_per_second=4
        )

    def __enter__(self) -> Self:
        self._live.start(refresh=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def _render(self) -> RenderableType:
        return picture(self._board.frame(), self._look, self._hint)


def picture(frame: Frame[Figures], look: Look[Figures], hint: str) -> RenderableType:
    layout = Layout()
    figures = Layout(size=_FIGURES_HEIGHT)
    figures.split_row(*map(Layout, look.panels(frame.figures)))
    layout.split_column(
        Layout(_heading(frame, look.title), size=2),
        Layout(_now(frame), size=3),
        figures,
        Layout(_Story(frame.told)),
        Layout(Text(hint, style="dim", no_wrap=True), size=1),
    )
    return layout


def clock(seconds: float) -> str:
    """Return minutes and seconds as text."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def _heading(frame: Frame[Any], title: str) -> RenderableType:
    line = Table.grid(expand=True)
    line.add_column(no_wrap=True)
    line.add_column(justify="right", no_wrap=True)
    line.add_row(
        Text(title, style="bold"),
        Text(f"{clock(frame.elapsed_s)} of about {clock(frame.expected_s)}"),
    )
    share = min(1.0, frame.elapsed_s / frame.expected_s) if frame.expected_s else 0.0
    return Group(line, Bar(1.0, 0, share, color="cyan", bgcolor="grey23"))


def _now(frame: Frame[Any]) -> RenderableType:
    if frame.is_ending:
        return Text("Ending: the broker and the job are being stopped.", style="bold yellow")
    return Text.assemble(("Now: ", "bold cyan"), frame.now)


class _Story:
    """The end of the story, as much as fits."""

    def __init__(self, told: tuple[Happening, ...]) -> None:
        self._told = told

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        height = options.height or options.max_height
        room = max(0, height - _FRAME_HEIGHT)
        # The newest lines stay.
        lines: deque[Text] = deque(maxlen=room)
        for happening in self._told:
            lines.extend(_lines(console, options.max_width - _FRAME_WIDTH, happening))
        yield Panel(Group(*lines), title="What happened", title_align="left", height=height)


def _lines(console: Console, width: int, happening: Happening) -> Iterator[Text]:
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
