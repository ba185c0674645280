"""Section of the offsets that users moved or removed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt

from group_coordinator.report import charts
from group_coordinator.report.phrases import NOTHING, count, of_things, time_text
from group_coordinator.report.section import (
    SHOWN_ROWS,
    Answers,
    Cell,
    Content,
    Listing,
    Row,
    Scope,
    Section,
    TitledChart,
    headings,
    name_of,
)
from group_coordinator.tables.views.definition import total_of

_MOVED = "CAST(`after` AS DECIMAL(20, 0)) - `before`"
"""SQL of the distance; the difference of two bigints may not fit a bigint."""


def _queries(scope: Scope) -> Mapping[str, str]:
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
    return Content(figures=[_figure(changes, scope)], listings=[_listing(changes, scope)])


def _figure(changes: Sequence[Row], scope: Scope) -> TitledChart:
    values = [
        {
            "name": f"{name_of(row, scope)}: {row['topic']}",
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


def _listing(changes: Sequence[Row], scope: Scope) -> Listing:
    return Listing(
        "The latest changes",
        headings(["When", "Who", "Change", "Group", "Topic", "What"]),
        [
            [
                Cell(time_text(row["at"]), "time"),
                Cell(row["principal"] or NOTHING, "name"),
                Cell(row["change"]),
                Cell(name_of(row, scope), "name"),
                Cell(row["topic"], "name"),
                Cell(_moved(row)),
            ]
            for row in changes
        ],
        changes[0]["total"],
    )


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


CHANGES = Section(
    name="changes",
    title="Changes of offsets",
    lead="Offsets that a user set, set back or deleted. A reset is a commit to a group without members.",
    nothing="No offset was set, set back or deleted in this time.",
    example="SELECT * FROM audit ORDER BY at DESC",
    queries=_queries,
    content=_content,
)
