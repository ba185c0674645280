"""Section of the lost offsets, with reasons."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from operator import itemgetter
from typing import Any

import altair as alt

from group_coordinator.report import charts
from group_coordinator.report.phrases import count, of_things
from group_coordinator.report.section import (
    SHOWN_ROWS,
    Answers,
    Column,
    Content,
    Legend,
    Row,
    Scope,
    Section,
    Tile,
    TitledChart,
    listings,
    name_of,
)

_COLOURS = {
    "offset-expired": "var(--series-1)",
    "group-expired": "var(--series-2)",
    "offset-deleted": "var(--series-3)",
    "group-deleted": "var(--series-4)",
    "topic-deleted": "var(--series-5)",
}


def _queries(scope: Scope) -> dict[str, str]:
    step = scope.step_of("lost_at")
    return {
        "reasons": f"""
SELECT {step} AS at, reason, count(*) AS offsets FROM lost_offsets
WHERE {scope.has("lost_at")} GROUP BY {step}, reason ORDER BY at, reason""",  # noqa: S608 - times, numbers and one escaped name
        "lost": f"""
SELECT cluster_id, group_id, topic, lost_at, reason, inferred, principal, count(*) AS offsets,
  min(`partition`) AS `partition`, min(last_offset) AS last_offset, count(committed_again_at) AS came_back,
  count(*) OVER () AS total
FROM lost_offsets WHERE {scope.has("lost_at")}
GROUP BY cluster_id, group_id, topic, lost_at, reason, inferred, principal
ORDER BY lost_at DESC, cluster_id, group_id, topic LIMIT {SHOWN_ROWS}""",  # noqa: S608 - times, numbers and one escaped name
    }


def _content(answers: Answers, scope: Scope) -> Content:
    reasons = answers["reasons"]
    total = sum(row["offsets"] for row in reasons)
    tile = Tile(count(total), "offsets lost", "in this time", "bad" if total else "good")
    if not total:
        return Content([tile])
    listing = listings("The latest losses", answers["lost"], _COLUMNS)
    return Content([tile], [_figure(reasons, scope)], listing)


def _figure(reasons: list[Row], scope: Scope) -> TitledChart:
    by_reason = Counter[str]()
    for row in reasons:
        by_reason[row["reason"]] += row["offsets"]
    legend = [Legend(reason, _COLOURS.get(reason, "var(--series-6)")) for reason in by_reason]
    listed = ", ".join(f"{reason} {count(number)}" for reason, number in by_reason.items())
    spec = _bars(reasons, legend, scope)
    return TitledChart(
        "Offsets lost, by reason", f"Offsets lost over time: {listed}.", spec, legend
    )


def _bars(reasons: list[Row], legend: list[Legend], scope: Scope) -> dict[str, Any]:
    values = [row | {"at": row["at"].isoformat()} for row in reasons]
    # Few losses need few ticks: an axis with halves would be wrong.
    most = max(sum(row["offsets"] for row in own) for _, own in groupby(reasons, itemgetter("at")))
    axis = alt.Axis(labelExpr=charts.COUNTS, tickCount=min(most, 4))
    scale = alt.Scale(domain=[each.name for each in legend], range=[each.colour for each in legend])
    bars = alt.Chart(charts.rows(values)).mark_bar(width=6, cornerRadiusEnd=3)
    chart = bars.encode(
        charts.time_axis(scope),
        alt.Y("offsets:Q", title=None, axis=axis),
        alt.Color("reason:N", scale=scale, legend=None),
        tooltip=[*charts.tooltips(reason="why", offsets="offsets"), charts.time_tooltip()],
    )
    return charts.spec_of(chart, 160)


def _what(row: Row) -> str:
    if row["offsets"] == 1:
        return f"partition {row['partition']}, at {count(row['last_offset'])}"
    return of_things(row["offsets"], "partition")


def _since(row: Row) -> str:
    if not row["came_back"]:
        return "lost still"
    if row["came_back"] == row["offsets"]:
        return "committed again"
    return f"{count(row['came_back'])} committed again"


_COLUMNS = (
    Column("When", "lost_at", "time"),
    Column("Group", name_of, "name"),
    Column("Topic", "topic", "name"),
    Column("Lost", _what),
    Column("Why", lambda row: f"{row['reason']}, inferred" if row["inferred"] else row["reason"]),
    Column("Who asked", "principal", "name"),
    Column("Now", _since),
)

LOST = Section(
    name="lost",
    title="Lost offsets, with reasons",
    lead="A group without an offset starts as auto.offset.reset says. Offsets expire by time; a deletion was "
    "requested.",
    nothing="No offset was lost in this time.",
    example="SELECT * FROM lost_offsets ORDER BY lost_at DESC",
    queries=_queries,
    content=_content,
)
