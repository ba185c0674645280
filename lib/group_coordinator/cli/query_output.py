"""Output of a query: a table for people, CSV, JSON, or a file."""

from __future__ import annotations

import csv
import sys
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any, TextIO

import click
import pyarrow as pa
from msgspec import json
from pyarrow import parquet
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from group_coordinator.cli.shared_options import Function, reject_given
from group_coordinator.cli.user_errors import visible_json
from group_coordinator.clients.query_results import without_views
from group_coordinator.report.phrases import name_text

Writer = Callable[[pa.Table, TextIO], None]

_PARQUET = "parquet"


def write_csv(response: pa.Table, out: TextIO) -> None:
    """Write RFC 4180 with a header line; null is an empty field. Only terminals get escapes, as programs need every character."""
    rows = rows_of(response)
    text_of = partial(shown_cell, encoding=out.encoding) if out.isatty() else cell_text
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(text_of, response.column_names))
    writer.writerows(map(text_of, row) for row in rows)


def write_json(response: pa.Table, out: TextIO) -> None:
    """Write an array with an object for each row; times as ISO 8601, bytes as base64."""
    _check_names(response)
    document = json.encode(
        [dict(zip(response.column_names, row, strict=True)) for row in rows_of(response)],
        enc_hook=str,
    )
    out.write(visible_json(json.format(document, indent=2).decode(), out.encoding) + "\n")


FORMATS: Mapping[str, Writer] = {"csv": write_csv, "json": write_json}


def format_option(formats: Collection[str], default: str) -> Callable[[Function], Function]:
    """Add --format with these formats."""
    return click.option(
        "--format",
        "printed",
        type=click.Choice(list(formats)),
        default=default,
        show_default=True,
        help="The format of the printed result.",
    )


def output_option(formats: Collection[str]) -> Callable[[Function], Function]:
    """Add --output with these formats or Parquet, and a file."""
    kinds = [*formats, _PARQUET]
    return click.option(
        "--output",
        type=(click.Choice(kinds), click.Path(dir_okay=False, path_type=Path)),
        metavar=f"[{'|'.join(kinds)}] FILE",
        help="Write the result to this file, which is replaced, instead of printing it.",
    )


def check_format_of_file(output: tuple[str, Path] | None) -> None:
    """Check before a long query that --format is not given with --output, which has its own format."""
    if output is not None:
        kind, file = output
        reject_given(
            "printed",
            why=f"sets the format of printed results, but --output writes {file} as {kind}: remove one of them",
        )


def show(
    response: pa.Table, writers: Mapping[str, Writer], printed: str, output: tuple[str, Path] | None
) -> None:
    """Print the rows, or write them to a file, which stays unchanged after an error."""
    if output is None:
        writers[printed](response, sys.stdout)
        return
    kind, file = output
    # Converted before the file is opened: an error leaves the old file.
    content = _parquet(response) if kind == _PARQUET else _text(writers[kind], response)
    try:
        file.write_bytes(content)
    except OSError as error:
        raise click.FileError(str(file), error.strerror) from error


def _text(writer: Writer, response: pa.Table) -> bytes:
    out = StringIO(newline="")
    writer(response, out)
    return out.getvalue().encode()


def _parquet(response: pa.Table) -> pa.Buffer:
    # Parquet allows two columns with the same name, but most programs cannot read them.
    _check_names(response)
    out = pa.BufferOutputStream()
    try:
        parquet.write_table(without_views(response), out)
    except pa.ArrowNotImplementedError as error:
        raise click.ClickException(
            f"Parquet lacks a type of the result ({error}): CAST the column AS STRING"
        ) from error
    return out.getvalue()


def _check_names(response: pa.Table) -> None:
    for name, count in Counter(response.column_names).items():
        if count > 1:
            raise click.ClickException(
                f"the result has several columns named {name}: name them with AS"
            )


def rows_of(response: pa.Table) -> list[tuple[Any, ...]]:
    """Convert rows to tuples of Python's own values. click.ClickException: Python has no such value."""
    columns = [
        _values(*column) for column in zip(response.column_names, response.columns, strict=True)
    ]
    return list(zip(*columns, strict=True))


def _values(name: str, column: pa.ChunkedArray) -> list[Any]:
    try:
        return _in_microseconds(column).to_pylist()  # type: ignore[no-any-return]
    except (OverflowError, ValueError) as error:
        raise click.ClickException(
            f"column {name} has a value that cannot be shown, such as a time beyond the year 9999 ({error}): "
            "CAST it AS STRING"
        ) from error


def _in_microseconds(column: pa.ChunkedArray) -> pa.ChunkedArray:
    # Nanoseconds (now() has them) would become objects of pandas.
    kind = column.type
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return column.cast(pa.timestamp("us", kind.tz), safe=False)
    if pa.types.is_duration(kind) and kind.unit == "ns":
        return column.cast(pa.duration("us"), safe=False)
    return column


def shown_cell(value: object, encoding: str | None) -> str:
    """Return a value as a line of printable text in this encoding; null is empty."""
    text = cell_text(value)
    if isinstance(value, list | dict):
        return visible_json(text, encoding)
    known = encoding or "utf-8"
    return name_text(text).encode(known, "backslashreplace").decode(known)


def cell_text(value: object) -> str:
    """Return a value as text; null is empty."""
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


_UNLIMITED_WIDTH = 100_000
"""Width without a terminal: a file or a pipe must not lose the end of a line."""
_GAP = "   "


def print_table(response: pa.Table, out: TextIO | None = None) -> None:
    """Print aligned columns, numbers to the right; on a terminal that is too narrow, a line for each value."""
    out = out or sys.stdout
    console = Console(highlight=False, file=out)
    if not console.is_terminal:
        console = Console(highlight=False, file=out, width=_UNLIMITED_WIDTH)
    names, *rows = (
        [shown_cell(value, console.encoding) for value in row]
        for row in (response.column_names, *rows_of(response))
    )
    # rich's Table takes ten seconds for 30,000 rows.
    heading, *lines = _aligned(response.schema.types, [names, *rows]) or [""]
    width = cell_len(heading)
    if width <= console.width:
        console.out(heading, style="bold")
        console.out(("-" if console.options.ascii_only else "─") * width)
        console.out("".join(f"{line.rstrip()}\n" for line in lines), end="")
    else:
        _print_records(console, names, rows)
    console.print(
        f"\n{response.num_rows} {'row' if response.num_rows == 1 else 'rows'}", style="dim"
    )


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
