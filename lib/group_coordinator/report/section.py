"""What a section of the page is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from group_coordinator.report.scope import Scope

Row = dict[str, Any]
Answers = Mapping[str, list[Row]]
"""The rows of each of a section's queries, by its name."""

SHOWN_ROWS = 15
"""A table of the page is for a look; the query below it gives all."""


class Tile(NamedTuple):
    """A number at the top of the page, what it counts, and a word on it; the tone `bad` asks for a look."""

    number: str
    label: str
    note: str = ""
    tone: str = ""


class Cell(NamedTuple):
    """A text, and how it is shown: `number`, `name`, `time`, or the status of a group."""

    text: str
    kind: str = ""


class Legend(NamedTuple):
    """A name in a chart, and its colour: a variable of the page's style."""

    name: str
    colour: str


class Figure(NamedTuple):
    """A chart: its title, what it shows in words for who does not see it, its Vega-Lite, and the names in it."""

    title: str
    words: str
    spec: dict[str, Any]
    legend: Sequence[Legend] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """A table of the page: its headings, its rows, and how many rows there are in all."""

    caption: str
    headings: Sequence[Cell]
    rows: Sequence[Sequence[Cell]]
    total: int


@dataclass(frozen=True, slots=True)
class Content:
    """What a section has to say; a section without figures and listings says its sentence for nothing."""

    tiles: Sequence[Tile] = ()
    figures: Sequence[Figure] = ()
    listings: Sequence[Listing] = ()
    remarks: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A question, asked of the tables.

    lead: what is to be seen, in a sentence.
    nothing: the sentence where there is nothing to be seen.
    example: the query that gives the whole of it, for `group-coordinator sql`.
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
    name = str(row[column])
    return name if scope.cluster else f"{row['cluster_id'].replace('/', '//')} / {name}"
