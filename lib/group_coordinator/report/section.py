"""Parts of a section of the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from group_coordinator.report.scope import Scope

Row = dict[str, Any]
Answers = Mapping[str, list[Row]]
"""Rows of a section's queries, by query name."""

SHOWN_ROWS = 15
"""Rows that a table of the page shows; the query below it returns all."""


class Tile(NamedTuple):
    """Number at the top of the page, its label and a note; the tone `bad` marks a problem."""

    number: str
    label: str
    note: str = ""
    tone: str = ""


class Cell(NamedTuple):
    """Text and its kind: `number`, `name`, `time`, or the status of a group."""

    text: str
    kind: str = ""


class Legend(NamedTuple):
    """Name in a chart, and its colour: a variable of the page's style."""

    name: str
    colour: str


class TitledChart(NamedTuple):
    """Chart: its title, a description for screen readers, its Vega-Lite, and the names in it."""

    title: str
    words: str
    spec: dict[str, Any]
    legend: Sequence[Legend] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """Table of the page: headings, rows, and the number of all rows."""

    caption: str
    headings: Sequence[Cell]
    rows: Sequence[Sequence[Cell]]
    total: int


@dataclass(frozen=True, slots=True)
class Content:
    """Content of a section; a section without figures and listings shows its sentence `nothing`."""

    tiles: Sequence[Tile] = ()
    figures: Sequence[TitledChart] = ()
    listings: Sequence[Listing] = ()
    remarks: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Question that queries of the tables answer.

    lead: a sentence about the content.
    nothing: the sentence without content.
    example: the query of all rows, for `group-coordinator sql`.
    """

    name: str
    title: str
    lead: str
    nothing: str
    example: str
    queries: Callable[[Scope], Mapping[str, str]]
    content: Callable[[Answers, Scope], Content]


def name_of(row: Row, scope: Scope, column: str = "group_id") -> str:
    """Return the name of a group or topic on the page, with its cluster if the page shows all clusters.

    A slash in a cluster's name is doubled, so that different pairs of names have different texts.
    """
    # A page of a single cluster needs no cluster in names.
    name = str(row[column])
    return name if scope.cluster else f"{row['cluster_id'].replace('/', '//')} / {name}"
