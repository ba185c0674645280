"""Section of the commit rates of groups."""

from __future__ import annotations

from datetime import datetime
from itertools import groupby

import altair as alt

from group_coordinator.report import charts
from group_coordinator.report.phrases import of_things, rate
from group_coordinator.report.section import (
    Answers,
    Column,
    Content,
    Row,
    Scope,
    Section,
    Tile,
    TitledChart,
    listings,
    name_of,
)


def _queries(scope: Scope) -> dict[str, str]:
    step = scope.step_of("`minute`")
    return {
        "commits": f"""
WITH steps AS (
  SELECT cluster_id, group_id, {step} AS at, sum(commits) AS commits, sum(advanced) AS advanced, max(`minute`) AS last
  FROM commit_rate WHERE {scope.has("`minute`")}
  GROUP BY cluster_id, group_id, {step}
),
placed AS (
  SELECT steps.*, sum(commits) OVER (PARTITION BY cluster_id, group_id) AS own, sum(commits) OVER () AS whole FROM steps
),
ranked AS (
  SELECT placed.*, dense_rank() OVER (ORDER BY own DESC, cluster_id, group_id) AS place FROM placed
)
SELECT * FROM (SELECT ranked.*, max(place) OVER () AS total FROM ranked)
WHERE place <= {len(charts.SERIES)} ORDER BY place, at"""  # noqa: S608 - times, numbers and one escaped name
    }


def _content(answers: Answers, scope: Scope) -> Content:
    points = answers["commits"]
    if not points:
        return Content()
    # The query's order makes each group's rows adjacent.
    groups = [list(own) for _, own in groupby(points, key=lambda row: row["place"])]
    lines = [_line(own, scope) for own in groups]
    minutes = (scope.end - scope.begin).total_seconds() / 60
    return Content(
        tiles=[Tile(rate(points[0]["whole"] / minutes), "commits a minute", "on average")],
        figures=[_figure(groups, scope)],
        listings=listings("Groups with the most commits", lines, _COLUMNS),
    )


def _figure(groups: list[list[Row]], scope: Scope) -> TitledChart:
    names = [name_of(points[0]) for points in groups]
    values = [
        {
            "key": charts.key(points[0]["place"]),
            "name": name,
            "at": at.isoformat(),
            "rate": commits * 60 / scope.step_s,
        }
        for name, points in zip(names, groups, strict=True)
        for at, commits in _without_gaps(points, scope)
    ]
    colour, legend = charts.colours_of(names)
    y = alt.Y("rate:Q", title=None, axis=alt.Axis(format=",.3~r"))
    chart = charts.line_chart(
        scope, values, y, colour, alt.Tooltip("rate:Q", title="commits a minute", format=",.3~r")
    )
    words = f"Lines of how many offsets {of_things(len(groups), 'group')} committed a minute."
    return TitledChart("Commits a minute", words, charts.spec_of(chart, 200), legend)


def _without_gaps(points: list[Row], scope: Scope) -> list[tuple[datetime, int]]:
    # A step without commits has no row.
    found = {row["at"]: row["commits"] for row in points}
    return [(at, found.get(at, 0)) for at in scope.steps()]


def _line(points: list[Row], scope: Scope) -> Row:
    advanced = sum(row["advanced"] for row in points)
    a_minute = advanced * 60 / (scope.end - scope.begin).total_seconds()
    return points[-1] | {"advanced": advanced, "a_minute": a_minute}


_COLUMNS = (
    Column("Group", name_of, "name"),
    Column("Commits", "own", "number"),
    Column("Records read", "advanced", "number"),
    Column("Records a minute", lambda row: rate(row["a_minute"]), "number"),
    Column("Last commit", "last", "time"),
)

COMMITS = Section(
    name="commits",
    title="Commits and records per minute",
    lead="Each partition of a commit counts. Records read are the steps of offsets forward.",
    nothing="No group committed in this time.",
    example="SELECT * FROM commit_rate WHERE group_id = 'billing' ORDER BY minute DESC LIMIT 60",
    queries=_queries,
    content=_content,
)
