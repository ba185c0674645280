"""Parts of a section of the page, and the scope of a report: a time range, and a cluster or all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any, NamedTuple

from group_coordinator.report.phrases import NOTHING, count, time_text
from group_coordinator.tables.timestamps import FIRST_MS
from group_coordinator.tables.views.definition import floor_of, in_datafusion, is_one_of

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_STEPS = 150
_STEPS_S = (60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400)
_WEEK_S = 604_800


class Scope(NamedTuple):
    """Time range with time zones, a cluster, and groups, None: all. Its conditions are DataFusion's SQL."""

    begin: datetime
    end: datetime
    cluster: str | None = None
    groups: tuple[str, ...] | None = None

    def has(self, column: str) -> str:
        """Condition for rows of the time range, by a column with their time, and of the cluster."""
        return f"{column} >= {instant(self.begin)} AND {column} <= {instant(self.end)} AND {self.is_of_cluster()}"

    def is_of_cluster(self, table: str = "") -> str:
        if self.cluster is None:
            return "true"
        # A join needs the table's name.
        column = f"{table}.cluster_id" if table else "cluster_id"
        return f"{column} = {in_datafusion(self.cluster)}"

    def is_of_groups(self) -> str:
        if self.groups is None:
            return "true"
        return is_one_of("group_id", self.groups)

    @property
    def step_s(self) -> int:
        """Distance between the points of a chart in seconds: no more points than a screen can show."""
        least_s = (self.end - self.begin).total_seconds() / _MOST_STEPS
        weeks = ceil(least_s / _WEEK_S)
        return next((step for step in _STEPS_S if least_s <= step), weeks * _WEEK_S)

    def step_of(self, column: str) -> str:
        # date_bin computes in nanoseconds of 64 bits, which end in 1677 and 2262.
        begin = floor_of(f"CAST({column} AS BIGINT)", self.step_s * 1_000_000)
        # The first step may begin before the earliest time that can be shown.
        begin = f"greatest({begin}, {FIRST_MS * 1_000})"
        return f"arrow_cast({begin}, 'Timestamp(Microsecond, Some(\"UTC\"))')"

    def steps(self) -> list[datetime]:
        step = timedelta(seconds=self.step_s)
        # Rounded up: the first step that is complete.
        first = _EPOCH - (_EPOCH - self.begin) // step * step
        return [first + step * number for number in range((self.end - first) // step)]


def instant(at: datetime) -> str:
    return f"to_timestamp_micros({(at - _EPOCH) // timedelta(microseconds=1)})"


Row = dict[str, Any]
Answers = Mapping[str, list[Row]]
"""Rows of a section's queries, by query name. Their cluster_id is empty if the page shows a single cluster."""

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


class Column(NamedTuple):
    """Column of a listing: its title, a column of the query or a function that returns a row's text, and the kind of its cells."""

    title: str
    value: str | Callable[[Row], str]
    kind: str = ""

    def cell(self, row: Row) -> Cell:
        if callable(self.value):
            return Cell(self.value(row), self.kind)
        value = row[self.value]
        match self.kind:
            case "number":
                return Cell(count(value), self.kind)
            case "time":
                return Cell(time_text(value), self.kind)
            case "status":
                # The status is a class of its own in the page's style, as each status has a colour.
                return Cell(value or NOTHING, f"status {value}" if value else "")
            case _:
                return Cell(value or NOTHING, self.kind)


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
    """Content of a section; without figures and listings it shows its sentence `nothing`."""

    tiles: Sequence[Tile] = ()
    figures: Sequence[TitledChart] = ()
    listings: Sequence[Listing] = ()
    remarks: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Question that queries of the tables answer.

    nothing: its sentence without content.
    example: the query of all rows.
    narrowed: the scope of its queries, by a query of its own if needed.
    """

    name: str
    title: str
    lead: str
    nothing: str
    example: str
    queries: Callable[[Scope], Mapping[str, str]]
    content: Callable[[Answers, Scope], Content]
    narrowed: Callable[[Callable[[str], list[Row]], Scope], Scope] = lambda _ask, scope: scope


def listings(caption: str, rows: Sequence[Row], columns: Sequence[Column]) -> Sequence[Listing]:
    """Return the listing of a query's rows, none without rows. The query counts all rows in its column `total`."""
    if not rows:
        return ()
    headings = [Cell(each.title, "number" if each.kind == "number" else "") for each in columns]
    cells = [[each.cell(row) for each in columns] for row in rows]
    return (Listing(caption, headings, cells, rows[0]["total"]),)


def listed(
    query: str, caption: str, columns: Sequence[Column]
) -> Callable[[Answers, Scope], Content]:
    """Return the content of a section that is the listing of one query."""
    return lambda answers, _scope: Content(listings=listings(caption, answers[query], columns))


def name_of(row: Row, column: str = "group_id") -> str:
    """Return the name of a group or topic on the page, with its cluster if the page shows all clusters."""
    # A slash in a cluster's name is doubled, so that different pairs of names have different texts.
    cluster, name = row["cluster_id"].replace("/", "//"), str(row[column])
    return f"{cluster} / {name}" if cluster else name
