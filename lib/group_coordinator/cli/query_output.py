"""An answer of the tables as a table for people, as CSV, or as JSON."""

from __future__ import annotations

import csv
import sys
from base64 import b64encode
from datetime import datetime
from typing import Any

import click
import pyarrow as pa
from msgspec import json
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

_UNLIMITED_WIDTH = 100_000
"""The width without a terminal: a file or a pipe must not lose the end of a line."""


def print_table(answer: pa.Table) -> None:
    """Aligned columns, numbers to the right; where a terminal is too narrow for them, one line a value."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=_UNLIMITED_WIDTH)
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
    for row in _rows(answer):
        table.add_row(*(Text(_cell(value)) for value in row))
    return table


def _print_records(console: Console, answer: pa.Table) -> None:
    width = max(len(name) for name in answer.column_names)
    for number, row in enumerate(_rows(answer), start=1):
        console.rule(f"row {number}", align="left", style="dim")
        for name, value in zip(answer.column_names, row, strict=True):
            console.print(Text(name.ljust(width), style="bold"), Text(_cell(value)), soft_wrap=True)


def print_csv(answer: pa.Table) -> None:
    """RFC 4180 with a line of headings; null is an empty field."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(answer.column_names)
    writer.writerows([_cell(value) for value in row] for row in _rows(answer))


def print_json(answer: pa.Table) -> None:
    """An array with one object a row; times as ISO 8601, bytes as base64."""
    document = json.encode(
        [dict(zip(answer.column_names, row, strict=True)) for row in _rows(answer)], enc_hook=str
    )
    click.echo(json.format(document, indent=2).decode())


FORMATS = {"table": print_table, "csv": print_csv, "json": print_json}


def _rows(answer: pa.Table) -> list[tuple[Any, ...]]:
    columns = [_in_microseconds(column).to_pylist() for column in answer.columns]
    return list(zip(*columns, strict=True))


def _in_microseconds(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Nanoseconds (now() has them) would come out as objects of pandas."""
    kind = column.type
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return column.cast(pa.timestamp("us", kind.tz), safe=False)
    if pa.types.is_duration(kind) and kind.unit == "ns":
        return column.cast(pa.duration("us"), safe=False)
    return column


def _cell(value: object) -> str:
    match value:
        case None:
            text = ""
        case bool():
            text = str(value).lower()
        case datetime():
            text = value.isoformat(sep=" ", timespec="milliseconds").replace("+00:00", "Z")
        case bytes():
            text = b64encode(value).decode()
        case list() | dict():
            text = json.encode(value, enc_hook=str).decode()
        case _:
            text = str(value)
    return text
