"""Section of the current groups."""

from __future__ import annotations

from typing import Any

import altair as alt

from group_coordinator.report import charts
from group_coordinator.report.phrases import (
    NOTHING,
    count,
    duration,
    of_things,
    short_count,
    short_duration,
)
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
from group_coordinator.tables.views.definition import total_of
from group_coordinator.tables.views.group_status import FROM_BAD_TO_GOOD

_COLOURS = {status: f"var(--{status.lower()})" for status in FROM_BAD_TO_GOOD}
"""Colours by status, the worst first."""


def _queries(scope: Scope) -> dict[str, str]:
    worst_first = " ".join(f"WHEN '{status}' THEN {place}" for place, status in enumerate(_COLOURS))
    return {
        "groups": f"""
WITH times AS (
  SELECT cluster_id, group_id, lag_seconds, how,
    row_number() OVER (PARTITION BY cluster_id, group_id ORDER BY lag_seconds DESC NULLS LAST) AS place
  FROM time_lag
)
SELECT known.cluster_id, known.group_id, known.group_type, known.state, known.member_count, known.offset_count,
  own.status, own.total_lag, own.max_lag, own.max_lag_topic, own.max_lag_partition, own.owner, times.lag_seconds, times.how,
  count(*) OVER () AS total,
  sum(CASE WHEN own.status <> 'OK' THEN 1 ELSE 0 END) OVER () AS not_ok,
  {total_of("own.total_lag", "OVER ()")} AS whole_lag,
  max(times.lag_seconds) OVER () AS longest_lag_s
FROM groups known
LEFT JOIN group_status own ON own.cluster_id = known.cluster_id AND own.group_id = known.group_id
LEFT JOIN times ON times.cluster_id = known.cluster_id AND times.group_id = known.group_id AND times.place = 1
WHERE {scope.is_of_cluster("known")}
ORDER BY CASE own.status {worst_first} ELSE {len(_COLOURS)} END, own.total_lag DESC NULLS LAST,
  known.cluster_id, known.group_id
LIMIT {SHOWN_ROWS}"""  # noqa: S608 - times, numbers and one escaped name
    }


def _content(answers: Answers, _scope: Scope) -> Content:
    groups = answers["groups"]
    if not groups:
        return Content(tiles=[Tile("0", "groups")])
    # The lag is unknown without samples of the topics' ends.
    known = [row for row in groups if row["total_lag"] is not None]
    return Content(
        tiles=_tiles(groups[0]),
        figures=[_figure(known)] if known else [],
        listings=listings("Groups, problems first", groups, _COLUMNS),
    )


def _tiles(row: Row) -> list[Tile]:
    not_ok, groups = row["not_ok"], of_things(row["total"], "group")
    return [
        Tile(count(not_ok), "not OK", f"of {groups}", "bad")
        if not_ok
        else Tile(count(row["total"]), "groups", "all OK", "good"),
        Tile(short_count(row["whole_lag"]), "records behind", "all groups together"),
        Tile(short_duration(row["longest_lag_s"]), "behind in time", "the slowest group"),
    ]


def _figure(groups: list[Row]) -> TitledChart:
    values = [
        {
            "key": charts.key(place),
            "name": name_of(row),
            "lag": row["total_lag"],
            "status": row["status"] or "unknown",
            "said": count(row["total_lag"]),
        }
        for place, row in enumerate(groups)
    ]
    present = [status for status in _COLOURS if any(row["status"] == status for row in groups)]
    worst = values[0]
    words = (
        f"Bars of how many records {of_things(len(groups), 'group')} are behind, coloured by status. "
        f"First: {worst['name']}, {worst['said']} records, {worst['status']}."
    )
    legend = [Legend(status, _COLOURS[status]) for status in present]
    return TitledChart("Records behind, by group", words, _bars(values, legend), legend)


def _bars(values: list[Row], legend: list[Legend]) -> dict[str, Any]:
    scale = alt.Scale(domain=[each.name for each in legend], range=[each.colour for each in legend])
    axis = alt.Axis(labelExpr=charts.COUNTS, tickCount=charts.TICKS, grid=True)
    base = charts.named_rows(values)
    bars = base.mark_bar(height=8, cornerRadiusEnd=4, yOffset=10).encode(
        alt.X("lag:Q", title=None, axis=axis),
        alt.Color("status:N", scale=scale, legend=None),
        tooltip=charts.tooltips(name="group", status="status", said="records behind"),
    )
    names = charts.names_above(base).encode(x=alt.datum(0))
    return charts.spec_of(alt.layer(bars, names), charts.NAMED_ROW)


def _time_behind(row: Row) -> str:
    shown = duration(row["lag_seconds"])
    return f"at least {shown}" if row["how"] == "at-least" else shown


def _place(row: Row) -> str:
    return f"{row['max_lag_topic']} {row['max_lag_partition']}" if row["max_lag"] else NOTHING


_COLUMNS = (
    Column("Group", name_of, "name"),
    Column("Status", "status", "status"),
    Column("State", lambda row: f"{row['state']}, {row['group_type']}"),
    Column("Members", "member_count", "number"),
    Column("Records behind", "total_lag", "number"),
    Column("Time behind", _time_behind, "number"),
    Column("Most behind in", _place),
    Column("Owner", "owner"),
)

GROUPS = Section(
    name="groups",
    title="Groups now",
    lead="A group is OK while it keeps up. LOSS: records were removed before it read them. STOP: it has stopped to "
    "commit. STALL: it commits and does not move. AHEAD: the log ends before its offset. REWIND: its offset went "
    "back. WARN: it falls behind. HELD: it waits for an open transaction. UNSUBSCRIBED: it has left the topics.",
    nothing="There are no groups, or compaction has not run: give `--with-compaction`, or run `group-coordinator compact`.",
    example="SELECT * FROM group_status ORDER BY total_lag DESC",
    queries=_queries,
    content=_content,
)
