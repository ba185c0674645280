"""Sections of the lag of groups over time, and of the records at risk."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

import altair as alt

from group_coordinator.report import charts
from group_coordinator.report.phrases import NOTHING, count, duration, of_things, short_count
from group_coordinator.report.section import (
    SHOWN_ROWS,
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
from group_coordinator.tables.views.definition import total_of

FOLLOWED_GROUPS = 1_000
"""The history of a group takes milliseconds for each of its partitions."""


def _narrowed(ask: Callable[[str], list[Row]], scope: Scope) -> Scope:
    """Leave out groups of a large cluster that are not far behind now."""
    furthest = ask(f"""
SELECT group_id, count(*) OVER () AS total FROM lag WHERE {scope.is_of_cluster()}
GROUP BY cluster_id, group_id
ORDER BY {total_of("lag")} DESC NULLS LAST, cluster_id, group_id LIMIT {FOLLOWED_GROUPS}""")  # noqa: S608 - numbers and one escaped name
    if not furthest or furthest[0]["total"] <= FOLLOWED_GROUPS:
        return scope
    return scope._replace(groups=tuple(row["group_id"] for row in furthest))


def _queries(scope: Scope) -> dict[str, str]:
    return {
        "lag": f"""
WITH of_groups AS (
  SELECT cluster_id, group_id, sampled_at, {total_of("lag")} AS lag, max(lag_seconds) AS lag_seconds
  FROM lag_history WHERE {scope.has("sampled_at")} AND {scope.is_of_groups()}
  GROUP BY cluster_id, group_id, sampled_at
),
steps AS (
  SELECT cluster_id, group_id, {scope.step_of("sampled_at")} AS at, max(lag) AS lag, max(lag_seconds) AS lag_seconds,
    last_value(lag ORDER BY sampled_at) AS last_lag
  FROM of_groups GROUP BY cluster_id, group_id, {scope.step_of("sampled_at")}
),
placed AS (
  SELECT steps.*, max(lag) OVER (PARTITION BY cluster_id, group_id) AS highest FROM steps
),
ranked AS (
  SELECT placed.*, dense_rank() OVER (ORDER BY highest DESC NULLS LAST, cluster_id, group_id) AS place FROM placed
)
SELECT * FROM (SELECT ranked.*, max(place) OVER () AS total FROM ranked)
WHERE place <= {len(charts.SERIES)} ORDER BY place, at"""  # noqa: S608 - times, numbers and one escaped name
    }


_LEFT_OUT = (
    f"Of so many groups only the {FOLLOWED_GROUPS:,} that are furthest behind now are followed back in time; "
    "lag_history has the others."
)


def _content(answers: Answers, scope: Scope) -> Content:
    points = answers["lag"]
    if not points:
        return Content()
    # The query's order makes each group's rows adjacent.
    groups = [list(own) for _, own in groupby(points, key=lambda row: row["place"])]
    lines = [_line(own) for own in groups]
    return Content(
        figures=[_records(groups, scope), *_seconds(groups, scope)],
        listings=listings("Groups with the most records behind", lines, _COLUMNS),
        remarks=[_LEFT_OUT] if scope.groups else (),
    )


def _records(groups: list[list[Row]], scope: Scope) -> TitledChart:
    values = [
        {
            "key": charts.key(row["place"]),
            "name": name_of(row),
            "at": row["at"].isoformat(),
            "lag": row["lag"],
        }
        for points in groups
        for row in points
    ]
    colour, legend = charts.colours_of([name_of(points[0]) for points in groups])
    y = alt.Y("lag:Q", title=None, axis=alt.Axis(labelExpr=charts.COUNTS))
    chart = charts.line_chart(
        scope, values, y, colour, alt.Tooltip("lag:Q", title="records behind", format=",")
    )
    worst = groups[0]
    words = (
        f"Lines of the records that {of_things(len(groups), 'group')} were behind. "
        f"The highest: {name_of(worst[0])}, {count(worst[0]['highest'])} records."
    )
    return TitledChart("Records behind", words, charts.spec_of(chart, 240), legend)


def _seconds(groups: list[list[Row]], scope: Scope) -> list[TitledChart]:
    known = [row for points in groups for row in points if row["lag_seconds"] is not None]
    if not known:
        return []
    unit, size_s = _unit_of(max(row["lag_seconds"] for row in known))
    values = [
        {
            "key": charts.key(row["place"]),
            "name": name_of(row),
            "at": row["at"].isoformat(),
            "behind": row["lag_seconds"] / size_s,
            "said": duration(row["lag_seconds"]),
        }
        for row in known
    ]
    colour, legend = charts.colours_of([name_of(points[0]) for points in groups])
    y = alt.Y("behind:Q", title=None, axis=alt.Axis(labelExpr=f"datum.label + ' {unit}'"))
    chart = charts.line_chart(scope, values, y, colour, alt.Tooltip("said:N", title="behind"))
    words = f"Lines of the age of the record that {of_things(len(groups), 'group')} read next."
    return [TitledChart("Time behind", words, charts.spec_of(chart, 240), legend)]


def _unit_of(longest_s: float) -> tuple[str, int]:
    """Unit of the axis and its seconds, so that the longest lag is at least two units."""
    fitting = (
        unit for unit in (("d", 86_400), ("h", 3_600), ("min", 60)) if longest_s >= 2 * unit[1]
    )
    return next(fitting, ("s", 1))


def _line(points: list[Row]) -> Row:
    # A step without a sample of the topic's end has no lag.
    highest = max(points, key=lambda row: -1 if row["lag"] is None else row["lag"])
    times = [row["lag_seconds"] for row in points if row["lag_seconds"] is not None]
    longest_s = max(times, default=None)
    return highest | {"last_lag": points[-1]["last_lag"], "longest_s": longest_s}


_COLUMNS = (
    Column("Group", name_of, "name"),
    Column("Records behind, last", "last_lag", "number"),
    Column("Most", "lag", "number"),
    Column("Around", "at", "time"),
    Column("Longest time behind", lambda row: duration(row["longest_s"]), "number"),
)

LAG = Section(
    name="lag",
    title="Lag over time",
    lead="Records that were not committed yet, and the age of the next record.",
    nothing="The ends of the topics were not sampled in this time: run `group-coordinator positions --every 30`.",
    example="SELECT * FROM lag_history WHERE group_id = 'billing' ORDER BY sampled_at DESC LIMIT 100",
    narrowed=_narrowed,
    queries=_queries,
    content=_content,
)


def _risk_queries(scope: Scope) -> dict[str, str]:
    return {
        "risks": f"""
WITH of_topics AS (
  SELECT cluster_id, group_id, topic, count(*) AS partitions, {total_of("lost")} AS lost, {total_of("readable_lag")} AS readable_lag,
    max(used_up) AS used_up, min(seconds_to_loss) AS seconds_to_loss
  FROM at_risk WHERE {scope.is_of_cluster()}
  GROUP BY cluster_id, group_id, topic
)
SELECT of_topics.*, count(*) OVER () AS total, {total_of("lost", "OVER ()")} AS whole_loss FROM of_topics
ORDER BY lost DESC NULLS LAST, seconds_to_loss NULLS LAST, used_up DESC NULLS LAST, cluster_id, group_id, topic
LIMIT {SHOWN_ROWS}"""  # noqa: S608 - times, numbers and one escaped name
    }


def _risk_content(answers: Answers, _scope: Scope) -> Content:
    risks = answers["risks"]
    lost = risks[0]["whole_loss"] or 0 if risks else 0
    tile = Tile(short_count(lost), "records lost", "removed unread", "bad" if lost else "good")
    return Content([tile], listings=listings("Records at risk, losses first", risks, _RISK_COLUMNS))


def _unread_share(row: Row) -> str:
    return NOTHING if row["used_up"] is None else f"{row['used_up']:.0%}"


def _next_loss(row: Row) -> str:
    seconds = row["seconds_to_loss"]
    if seconds is None:
        return NOTHING
    return f"in {duration(seconds)}" if seconds else "at the next removal"


_RISK_COLUMNS = (
    Column("Group", name_of, "name"),
    Column("Topic", "topic", "name"),
    Column("Partitions", "partitions", "number"),
    Column("Records lost", "lost", "number"),
    Column("Records behind", "readable_lag", "number"),
    Column("Unread share", _unread_share, "number"),
    Column("Lost next", _next_loss),
)

AT_RISK = Section(
    name="at-risk",
    title="Records at risk",
    lead="Retention has removed records before these groups read them, or may soon: at least half of the log is unread. "
    "Lost next: if the log's start moves on as in the last hours.",
    nothing="No group has lost records, or left half of a log unread.",
    example="SELECT * FROM at_risk ORDER BY lost DESC, seconds_to_loss",
    queries=_risk_queries,
    content=_risk_content,
)
