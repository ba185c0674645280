"""How `groups` prints what it finds: as Kafka's tool does, or as one JSON or YAML document."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import click
import yaml
from msgspec import json

from group_coordinator.cli.groups import format as layout
from group_coordinator.cli.standard_output import visible_json


class Output(Protocol):
    """Where results go; errors and notices go to standard error whatever it is."""

    def say(self, text: str) -> None:
        """Text for people."""

    def record(self, columns: Sequence[layout.Column], rows: Sequence[object]) -> None:
        """The same for programs."""

    def end(self) -> None:
        """Nothing more comes."""


class Text:
    """What Kafka's tool prints."""

    def say(self, text: str) -> None:
        """Print it."""
        click.echo(text)

    def record(self, columns: Sequence[layout.Column], rows: Sequence[object]) -> None:
        """The text has said it."""

    def end(self) -> None:
        """All is printed."""


class Document:
    """An array with an object a row: field names are the headings of the columns, null is a missing value."""

    def __init__(self, encode: Callable[[Any], str]) -> None:
        self._encode = encode
        self._rows: list[Mapping[str, object]] = []

    def say(self, text: str) -> None:
        """Programs read the rows."""

    def record(self, columns: Sequence[layout.Column], rows: Sequence[object]) -> None:
        """Add the rows."""
        self._rows += [layout.plain_row(columns, row) for row in rows]

    def end(self) -> None:
        """Print the document."""
        click.echo(self._encode(self._rows))


def _json(rows: Any) -> str:
    return visible_json(json.format(json.encode(rows), indent=2).decode(), sys.stdout.encoding)


def _yaml(rows: Any) -> str:
    """Write YAML; escape all non-ASCII characters if one needs an escape, as PyYAML has no finer choice."""
    plain = _yaml_document(rows, allow_unicode=True)
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


def show_table(output: Output, columns: Sequence[layout.Column], rows: Sequence[object]) -> None:
    """A table below an empty line."""
    output.say(f"\n{layout.table(columns, rows)}")
    output.record(columns, rows)
