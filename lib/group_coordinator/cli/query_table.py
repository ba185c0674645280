"""Output of a query as a table for people."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TextIO

import pyarrow as pa
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from group_coordinator.cli.query_output import rows_of, shown_cell

_UNLIMITED_WIDTH = 100_000
"""Width without a terminal: a file or a pipe must not lose the end of a line."""
_GAP = "   "


def print_table(answer: pa.Table, out: TextIO | None = None) -> None:
    """Print aligned columns, numbers to the right; on a terminal that is too narrow, a line for each value."""
    out = out or sys.stdout
    console = Console(highlight=False, file=out)
    if not console.is_terminal:
        console = Console(highlight=False, file=out, width=_UNLIMITED_WIDTH)
    names, *rows = (
        [shown_cell(value, console.encoding) for value in row]
        for row in (answer.column_names, *rows_of(answer))
    )
    # rich's Table takes ten seconds for 30,000 rows.
    heading, *lines = _aligned(answer.schema.types, [names, *rows]) or [""]
    width = cell_len(heading)
    if width <= console.width:
        console.out(heading, style="bold")
        console.out(("-" if console.options.ascii_only else "─") * width)
        console.out("".join(f"{line.rstrip()}\n" for line in lines), end="")
    else:
        _print_records(console, names, rows)
    console.print(f"\n{answer.num_rows} {'row' if answer.num_rows == 1 else 'rows'}", style="dim")


def _aligned(kinds: Sequence[pa.DataType], rows: Sequence[Sequence[str]]) -> list[str]:
    """Format a line for each row, all of the same width; the first row has the headings."""
    texts = zip(*rows, strict=True)
    columns = [_padded(*column) for column in zip(kinds, texts, strict=True)]
    return [_GAP.join(line) for line in zip(*columns, strict=True)]


def _padded(kind: pa.DataType, texts: Sequence[str]) -> list[str]:
    width = max(map(cell_len, texts))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return [" " * (width - cell_len(text)) + text for text in texts]
    # rich counts terminal cells: wide characters take two.
    return [set_cell_size(text, width) for text in texts]


def _print_records(console: Console, names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    width = max(map(cell_len, names))
    headings = [set_cell_size(name, width) for name in names]
    for number, row in enumerate(rows, start=1):
        console.rule(f"row {number}", align="left", style="dim")
        lines = (
            Text.assemble((heading, "bold"), " ", text)
            for heading, text in zip(headings, row, strict=True)
        )
        console.print(Text("\n").join(lines), soft_wrap=True)
