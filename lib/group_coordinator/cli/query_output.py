"""An answer of the tables as CSV or as JSON."""

from __future__ import annotations

import csv
import sys
from base64 import b64encode
from collections.abc import Callable, Collection
from datetime import datetime
from typing import Any, TypeVar

import click
import pyarrow as pa
from msgspec import json

Function = TypeVar("Function", bound=Callable[..., Any])


def print_csv(answer: pa.Table) -> None:
    """RFC 4180 with a line of headings; null is an empty field."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(answer.column_names)
    writer.writerows([cell_text(value) for value in row] for row in rows_of(answer))


def print_json(answer: pa.Table) -> None:
    """An array with one object a row; times as ISO 8601, bytes as base64."""
    document = json.encode(
        [dict(zip(answer.column_names, row, strict=True)) for row in rows_of(answer)], enc_hook=str
    )
    click.echo(json.format(document, indent=2).decode())


FORMATS = {"csv": print_csv, "json": print_json}


def format_option(formats: Collection[str], default: str) -> Callable[[Function], Function]:
    """Add --format, by which a user chooses one of these."""
    return click.option(
        "--format",
        "output",
        type=click.Choice(list(formats)),
        default=default,
        show_default=True,
        help="How the answer is printed.",
    )


def rows_of(answer: pa.Table) -> list[tuple[Any, ...]]:
    """A tuple a row, of Python's own values."""
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


def cell_text(value: object) -> str:
    """A value as a text of one line; empty: null."""
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
