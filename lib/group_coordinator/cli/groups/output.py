"""Context and output of the actions of `groups`.

Tables are byte for byte those of kafka-consumer-groups; other formats are a JSON or a YAML document.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self

import click
import yaml
from msgspec import json

from group_coordinator.cli.user_errors import visible_json
from group_coordinator.clients.admin.client import AdminClient
from group_coordinator.clients.cluster.cluster import Cluster
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.errors import ClientError

_MISSING = "-"


class TextColumn(NamedTuple):
    """Column of a table; without `margin` it has a fixed width, which long texts exceed."""

    heading: str
    value: Callable[[Any], object]
    width: int = 15
    margin: int | None = None
    field: str | None = None
    """Field name in a document; None: the heading in lower case, empty: no field."""
    plain: Callable[[Any], object] | None = None
    """Value in a document; None: the same."""

    def wide_enough(self, texts: Sequence[str]) -> int:
        if self.margin is None:
            return self.width
        # Kafka's tool computes the same widths, which scripts may rely on.
        return max([self.width, *(len(text) + self.margin for text in texts)])


def table(columns: Sequence[TextColumn], rows: Sequence[object]) -> str:
    """Format headings and rows, `-` for a missing value; no line break at the end."""
    bodies = [[_text(column.value(row)) for row in rows] for column in columns]
    padded = [
        [text.ljust(column.wide_enough(body)) for text in (column.heading, *body)]
        for column, body in zip(columns, bodies, strict=True)
    ]
    return "\n".join(" ".join(line) for line in zip(*padded, strict=True))


def plain_row(columns: Sequence[TextColumn], row: object) -> dict[str, object]:
    return {
        _field(column): (column.plain or column.value)(row) for column in columns if _field(column)
    }


def _field(column: TextColumn) -> str:
    return column.heading.lower().replace("-", "_") if column.field is None else column.field


def _text(value: object) -> str:
    return _MISSING if value is None else str(value)


class Output(Protocol):
    """Output format of results; errors and notices go to standard error in every format."""

    def say(self, text: str) -> None: ...
    def record(self, columns: Sequence[TextColumn], rows: Sequence[object]) -> None: ...
    def end(self) -> None: ...


class Text:
    """Output in the form of Kafka's tool."""

    def say(self, text: str) -> None:
        click.echo(text)

    def record(self, columns: Sequence[TextColumn], rows: Sequence[object]) -> None:
        """Do nothing, as the text has the rows."""

    def end(self) -> None:
        """Do nothing, as all is printed."""


class Document:
    """Array with an object for each row: field names are the headings of the columns, null is a missing value."""

    def __init__(self, encode: Callable[[Any], str]) -> None:
        self._encode = encode
        self._rows: list[Mapping[str, object]] = []

    def say(self, text: str) -> None:
        """Do nothing, as programs read the rows."""

    def record(self, columns: Sequence[TextColumn], rows: Sequence[object]) -> None:
        self._rows += [plain_row(columns, row) for row in rows]

    def end(self) -> None:
        click.echo(self._encode(self._rows))


def _json(rows: Any) -> str:
    return visible_json(json.format(json.encode(rows), indent=2).decode(), sys.stdout.encoding)


def _yaml(rows: Any) -> str:
    plain = _yaml_document(rows, allow_unicode=True)
    # PyYAML can only escape all non-ASCII characters or none.
    is_visible = visible_json(plain, sys.stdout.encoding) == plain
    return plain if is_visible else _yaml_document(rows, allow_unicode=False)


def _yaml_document(rows: Any, *, allow_unicode: bool) -> str:
    document: str = yaml.safe_dump(rows, allow_unicode=allow_unicode, sort_keys=False)
    return document.rstrip("\n")


FORMATS: Mapping[str, Callable[[], Output]] = {
    "table": Text,
    "json": lambda: Document(_json),
    "yaml": lambda: Document(_yaml),
}


class ActionContext:
    """Coordinator, brokers, and output of an action. The brokers are connected at the first use."""

    def __init__(self, admin: AdminClient, connection: Connection, output: Output) -> None:
        self.admin = admin
        self.output = output
        self._connection = connection

    @cached_property
    def cluster(self) -> Cluster:
        return Cluster(self._connection)

    def show_table(self, columns: Sequence[TextColumn], rows: Sequence[object]) -> None:
        """Print a table below an empty line, and record its rows."""
        self.output.say(f"\n{table(columns, rows)}")
        self.output.record(columns, rows)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # The property may never have been used.
        if "cluster" in self.__dict__:
            self.cluster.close()
        self.admin.close()


FAILED = "Executing consumer group command failed due to "


def print_error(message: str) -> None:
    """Print an error in the words of Kafka's tool, but to stderr: Kafka prints it to stdout."""
    click.echo(f"\nError: {message}", err=True)


def print_failure(error: ClientError) -> None:
    print_error(f"{FAILED}{error.kafka_text}")


def print_failure_of_group(group: str, error: ClientError) -> None:
    # Kafka's fixed messages never name a group, even if they contain its letters.
    is_named = group and group in str(error) and str(error) != type(error).__doc__
    print_error(f"{FAILED}{error.kafka_text}" + ("" if is_named else f" (group '{group}')"))
