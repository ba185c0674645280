"""An answer of the tables as a table for people."""

from __future__ import annotations

from typing import TextIO

import pyarrow as pa
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from group_coordinator.cli.query_output import cell_text, rows_of

_UNLIMITED_WIDTH = 100_000
"""The width without a terminal: a file or a pipe must not lose the end of a line."""


def print_table(answer: pa.Table, out: TextIO | None = None) -> None:
    """Aligned columns, numbers to the right; where a terminal is too narrow for them, one line a value."""
    console = Console(highlight=False, file=out)
    if not console.is_terminal:
        console = Console(highlight=False, file=out, width=_UNLIMITED_WIDTH)
    table = _aligned(answer)
    unlimited = console.options.update(max_width=_UNLIMITED_WIDTH)
    if console.measure(table, options=unlimited).maximum <= console.width:
        console.print(table)
    else:
        _print_records(console, answer)
    console.print(f"\n{answer.num_rows} {'row' if answer.num_rows == 1 else 'rows'}", style="dim")


def _aligned(answer: pa.Table) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for field in answer.schema:
        is_number = pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
        table.add_column(Text(field.name), justify="right" if is_number else "left", no_wrap=True)
    for row in rows_of(answer):
        table.add_row(*(Text(cell_text(value)) for value in row))
    return table


def _print_records(console: Console, answer: pa.Table) -> None:
    width = max(len(name) for name in answer.column_names)
    for number, row in enumerate(rows_of(answer), start=1):
        console.rule(f"row {number}", align="left", style="dim")
        for name, value in zip(answer.column_names, row, strict=True):
            console.print(
                Text(name.ljust(width), style="bold"), Text(cell_text(value)), soft_wrap=True
            )
