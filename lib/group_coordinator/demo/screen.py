"""The live screen: everything in a frame, in plain words, on 80 by 24 characters or more."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Self

from rich.bar import Bar
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.layout import Layout
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from group_coordinator.demo.board import Board, Frame, Happening

_FIGURES_HEIGHT = 9
_STYLES = {"Stable": "green", "Rebalancing": "yellow", "Empty": "blue", "Dead": "red"}
_MEANINGS = {
    "Stable": "at work",
    "Rebalancing": "sharing out work",
    "Empty": "no members",
    "Dead": "expired, deleted",
}
_REBALANCING = ("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling")
"""Two of classic groups, two of consumer groups."""
_FRAME_HEIGHT, _FRAME_WIDTH = 2, 4
"""Of a panel's lines, and of its borders and padding."""


class Screen:
    """Fills the terminal while the block runs, then restores it."""

    def __init__(self, console: Console, board: Board, hint: str) -> None:
        self._board = board
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
        return picture(self._board.frame(), self._hint)


def picture(frame: Frame, hint: str) -> RenderableType:
    """The whole screen."""
    layout = Layout()
    figures = Layout(size=_FIGURES_HEIGHT)
    figures.split_row(Layout(_groups(frame)), Layout(_coordinator(frame)))
    layout.split_column(
        Layout(_heading(frame), size=2),
        Layout(_now(frame), size=3),
        figures,
        Layout(_Story(frame.told)),
        Layout(Text(hint, style="dim", no_wrap=True), size=1),
    )
    return layout


def clock(seconds: float) -> str:
    """Minutes and seconds."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def _heading(frame: Frame) -> RenderableType:
    line = Table.grid(expand=True)
    line.add_column(no_wrap=True)
    line.add_column(justify="right", no_wrap=True)
    line.add_row(
        Text("Kafka's group coordinator as a Spark job", style="bold"),
        Text(f"{clock(frame.elapsed_s)} of about {clock(frame.expected_s)}"),
    )
    share = min(1.0, frame.elapsed_s / frame.expected_s) if frame.expected_s else 0.0
    return Group(line, Bar(1.0, 0, share, color="cyan", bgcolor="grey23"))


def _now(frame: Frame) -> RenderableType:
    if frame.is_ending:
        return Text("Ending: the broker and the job are being stopped.", style="bold yellow")
    return Text.assemble(("Now: ", "bold cyan"), frame.now)


def _groups(frame: Frame) -> RenderableType:
    counts = grouped(frame.group_states)
    rows = [
        (Text(name, style=_STYLES[name]), str(count), _MEANINGS[name])
        for name, count in counts.items()
    ]
    rows.append((Text("Members"), str(frame.member_count), "of all groups"))
    bar = _StackedBar([(count, _STYLES[name]) for name, count in counts.items()])
    title = f"{sum(counts.values())} groups, {frame.consumer_group_count} of them by KIP-848"
    return Panel(Group(_figures(rows), "", bar), title=title, title_align="left")


def grouped(states: Mapping[str, int]) -> dict[str, int]:
    """The states that the screen tells apart; those of a rebalance are one."""
    rebalancing = sum(states.get(state, 0) for state in _REBALANCING)
    return {
        "Stable": states.get("Stable", 0),
        "Rebalancing": rebalancing,
        "Empty": states.get("Empty", 0),
        "Dead": states.get("Dead", 0),
    }


def _coordinator(frame: Frame) -> RenderableType:
    latency = frame.latency
    rows = [
        ("Events", _number(frame.requests_per_s, "/s"), "sent to the job"),
        ("Answers", _number(latency and latency.median_s, " s"), "half come faster"),
        ("", _number(latency and latency.p99_s, " s"), "99 % come faster"),
        ("Batch", _number(frame.batch_s, " s"), "one round of the job"),
        ("Offsets", _count(frame.offset_count), "committed and kept"),
        ("Expired", _count(frame.expired_count), "grew too old"),
        ("Deleted", _count(frame.deleted_count), "by an administrator"),
    ]
    figures = _figures([(Text(name), value, meaning) for name, value, meaning in rows])
    return Panel(figures, title="Coordinator", title_align="left")


def _figures(rows: Iterable[tuple[Text, str, str]]) -> Table:
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(no_wrap=True, min_width=7)
    table.add_column(no_wrap=True, min_width=6, justify="right")
    table.add_column(no_wrap=True, style="dim", ratio=1)
    for row in rows:
        table.add_row(*row)
    return table


def _number(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    return f"{value:.0f}{unit}" if unit == "/s" else f"{value:.1f}{unit}"


def _count(value: int | None) -> str:
    return "-" if value is None else str(value)


class _StackedBar:
    """One line, shared out by count."""

    def __init__(self, parts: list[tuple[int, str]]) -> None:
        self._parts = parts

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        total = sum(count for count, _ in self._parts)
        line = Text(no_wrap=True)
        end, filled = 0, 0
        for count, style in self._parts:
            end += count
            upto = round(end / total * options.max_width) if total else 0
            line.append("━" * (upto - filled), style)
            filled = upto
        yield line


class _Story:
    """As much of the end of the story as fits."""

    def __init__(self, told: tuple[Happening, ...]) -> None:
        self._told = told

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        height = options.height or options.max_height
        room = max(0, height - _FRAME_HEIGHT)
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
        detail = margin + Text(text, style="cyan")
        detail.truncate(width, overflow="ellipsis")
        yield detail


def squeezed(lines: Sequence[str]) -> list[str]:
    """A table with narrower gaps, so that more of it fits."""
    width = max(map(len, lines), default=0)
    rows = [line.ljust(width) for line in lines]
    is_blank = [all(row[at] == " " for row in rows) for at in range(width)]
    kept = [at for at in range(width) if not (at > 1 and all(is_blank[at - 2 : at + 1]))]
    return ["".join(row[at] for at in kept).rstrip() for row in rows]
