"""Parts of the screen's panels."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text


def figures_table(rows: Iterable[tuple[Text, str, str]]) -> Table:
    """Return a table with a line per figure: name, value and meaning."""
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(no_wrap=True, min_width=7)
    table.add_column(no_wrap=True, min_width=6, justify="right")
    table.add_column(no_wrap=True, style="dim", ratio=1)
    for row in rows:
        table.add_row(*row)
    return table


def count_text(value: int | None) -> str:
    """Return a count, or a dash while it is unknown."""
    return "-" if value is None else str(value)


class StackedBar:
    """A line divided by counts."""

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
