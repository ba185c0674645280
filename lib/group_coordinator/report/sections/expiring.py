"""Section of the offsets that expire next."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import altair as alt

from group_coordinator.report import charts
from group_coordinator.report.phrases import count, of_things, time_left
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
    instant,
    listings,
    name_of,
)

_SOON = timedelta(days=1)
_SOON_COLOUR = "var(--warn)"
_LATER_COLOUR = "var(--series-1)"


def _queries(scope: Scope) -> dict[str, str]:
    return {
        "offsets": f"""
SELECT count(*) AS offsets, count(expires_at) AS unprotected,
  count(CASE WHEN expires_at <= {instant(scope.end)} + INTERVAL '1' DAY THEN 1 END) AS soon
FROM expiring_soon WHERE {scope.is_of_cluster()}""",  # noqa: S608 - times, numbers and one escaped name
        "expiring": f"""
SELECT cluster_id, group_id, topic, min(expires_at) AS expires_at, count(*) AS offsets, count(*) OVER () AS total
FROM expiring_soon WHERE expires_at IS NOT NULL AND {scope.is_of_cluster()}
GROUP BY cluster_id, group_id, topic ORDER BY expires_at, cluster_id, group_id, topic LIMIT {SHOWN_ROWS}""",  # noqa: S608 - times, numbers and one escaped name
    }


def _content(answers: Answers, scope: Scope) -> Content:
    [counted] = answers["offsets"]
    soon, protected = counted["soon"], counted["offsets"] - counted["unprotected"]
    tiles = [Tile(count(soon), "offsets expire", "within a day", "bad" if soon else "good")]
    remarks = (
        [
            f"{of_things(counted['offsets'], 'offset')} in all; {count(protected)} of them are protected."
        ]
        if counted["offsets"]
        else []
    )
    expiring = answers["expiring"]
    if not expiring:
        return Content(tiles, remarks=remarks)
    columns = (
        Column("Group", name_of, "name"),
        Column("Topic", "topic", "name"),
        Column("Offsets", "offsets", "number"),
        Column("The first expires", "expires_at", "time"),
        Column("That is", lambda row: time_left(row["expires_at"], scope.end)),
    )
    listing = listings("Offsets that expire next", expiring, columns)
    return Content(tiles, [_figure(expiring, scope)], listing, remarks)


def _figure(expiring: list[Row], scope: Scope) -> TitledChart:
    values = [
        {
            "key": charts.key(place),
            "name": f"{name_of(row)}: {row['topic']}",
            "now": scope.end.isoformat(),
            "at": row["expires_at"].isoformat(),
            "left": time_left(row["expires_at"], scope.end),
            "soon": row["expires_at"] - scope.end <= _SOON,
        }
        for place, row in enumerate(expiring)
    ]
    words = f"When the next offsets expire. First: {values[0]['name']}, {values[0]['left']}."
    legend = [Legend("within a day", _SOON_COLOUR), Legend("later", _LATER_COLOUR)]
    return TitledChart("Time left", words, _lines(values), legend)


def _lines(values: list[Row]) -> dict[str, Any]:
    """Lines from now to each expiry, with a point at the end."""
    axis = alt.Axis(format="%b %d %H:%M", tickCount=charts.TICKS)
    now = alt.X("now:T", title=None, scale=alt.Scale(type="utc"), axis=axis)
    colour = alt.condition("datum.soon", alt.value(_SOON_COLOUR), alt.value(_LATER_COLOUR))
    tooltip = [
        *charts.tooltips(name="offsets of", left="expire"),
        charts.time_tooltip("at", "that is, in UTC"),
    ]
    # Each row is a line from the scope's end to the expiry.
    base = charts.named_rows(values).encode(now, tooltip=tooltip)
    lines = base.mark_bar(height=3, yOffset=9).encode(x2="at:T", color=colour)
    point = base.mark_point(filled=True, size=90, yOffset=9, opacity=1)
    ends = point.encode(alt.X("at:T"), color=colour)
    return charts.spec_of(alt.layer(lines, ends, charts.names_above(base)), charts.NAMED_ROW)


EXPIRING = Section(
    name="expiring",
    title="Next expirations",
    lead="These offsets expire unless a member commits or joins before.",
    nothing="No offset is about to expire: all are protected, or there are none.",
    example="SELECT * FROM expiring_soon WHERE expires_at IS NOT NULL ORDER BY expires_at",
    queries=_queries,
    content=_content,
)
