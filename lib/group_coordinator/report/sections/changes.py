"""Section of the offsets that users moved or removed."""

from __future__ import annotations

import altair as alt

from group_coordinator.report import charts
from group_coordinator.report.phrases import count, of_things
from group_coordinator.report.section import (
    SHOWN_ROWS,
    Answers,
    Column,
    Content,
    Row,
    Scope,
    Section,
    TitledChart,
    listings,
    name_of,
)
from group_coordinator.tables.views.definition import total_of

_MOVED = "CAST(`after` AS DECIMAL(20, 0)) - `before`"
"""SQL of the distance; the difference of two bigints may not fit a bigint."""


def _queries(scope: Scope) -> dict[str, str]:
    return {
        "changes": f"""
SELECT cluster_id, group_id, topic, at, change, principal, count(*) AS offsets, min(`partition`) AS `partition`,
  min(`before`) AS before_offset, min(`after`) AS after_offset, {total_of(_MOVED)} AS moved_by,
  count(*) OVER () AS total
FROM audit WHERE {scope.has("at")} AND change NOT IN ('expired', 'group-expired')
GROUP BY cluster_id, group_id, topic, at, change, principal
ORDER BY at DESC, cluster_id, group_id, topic LIMIT {SHOWN_ROWS}"""  # noqa: S608 - times, numbers and one escaped name
    }


def _content(answers: Answers, scope: Scope) -> Content:
    changes = answers["changes"]
    if not changes:
        return Content()
    listing = listings("The latest changes", changes, _COLUMNS)
    return Content(figures=[_figure(changes, scope)], listings=listing)


def _figure(changes: list[Row], scope: Scope) -> TitledChart:
    values = [
        {
            "name": f"{name_of(row)}: {row['topic']}",
            "at": row["at"].isoformat(),
            "change": row["change"],
            "who": row["principal"] or "no user is named",
            "moved": _moved(row),
        }
        for row in changes
    ]
    points = alt.Chart(charts.rows(values)).mark_point(
        filled=True, size=120, opacity=0.85, color="var(--series-3)"
    )
    chart = points.encode(
        charts.time_axis(scope),
        alt.Y("change:N", title=None, axis=alt.Axis(grid=True)),
        tooltip=[
            *charts.tooltips(name="offsets of", change="change", who="who", moved="what"),
            charts.time_tooltip(),
        ],
    )
    words = f"The times of {of_things(len(changes), 'change')}, by kind; the table names each."
    return TitledChart("Changes over time", words, charts.spec_of(chart, alt.Step(44)))


def _moved(row: Row) -> str:
    # A row of one partition shows its offsets, a row of several the sum of their distances.
    after = row["after_offset"]
    if row["offsets"] == 1:
        to = "lost" if after is None else count(after)
        return f"partition {row['partition']}: {count(row['before_offset'])} → {to}"
    partitions = of_things(row["offsets"], "partition")
    if after is None:
        return f"{partitions} lost"
    moved = row["moved_by"] or 0
    return f"{partitions}, {of_things(abs(moved), 'record')} {'back' if moved < 0 else 'forward'}"


_COLUMNS = (
    Column("When", "at", "time"),
    Column("Who", "principal", "name"),
    Column("Change", "change"),
    Column("Group", name_of, "name"),
    Column("Topic", "topic", "name"),
    Column("What", _moved),
)

CHANGES = Section(
    name="changes",
    title="Changes of offsets",
    lead="Offsets that a user set, set back or deleted. A reset is a commit to a group without members.",
    nothing="No offset was set, set back or deleted in this time.",
    example="SELECT * FROM audit ORDER BY at DESC",
    queries=_queries,
    content=_content,
)
