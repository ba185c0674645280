"""Section of the groups that rebalanced most."""

from __future__ import annotations

from group_coordinator.report.phrases import duration, short_count
from group_coordinator.report.section import (
    SHOWN_ROWS,
    Answers,
    Column,
    Content,
    Row,
    Scope,
    Section,
    Tile,
    listings,
    name_of,
)
from group_coordinator.tables.views.definition import DATAFUSION
from group_coordinator.tables.views.rebalances import REBALANCES

_RECENT_LOG = "recent_log"
_RECENT = REBALANCES.sql(DATAFUSION, {"coordinator_log": _RECENT_LOG})


def _queries(scope: Scope) -> dict[str, str]:
    # The view of only this time's part of the log: of years, the view would sort all rows first.
    return {
        "groups": f"""
WITH {_RECENT_LOG} AS (SELECT * FROM coordinator_log WHERE {scope.has("event_time")})
SELECT cluster_id, group_id, count(*) AS rebalances, {_number_with("joined")} AS joins, {_number_with("left")} AS leaves,
  {_number_with("timed-out")} AS timeouts, sum(seconds) AS seconds, max(how = 'at-least') AS is_least,
  max(coalesce(ended_at, started_at)) AS last_at, count(*) OVER () AS total, sum(count(*)) OVER () AS all_rebalances
FROM ({_RECENT}) recent
GROUP BY cluster_id, group_id
ORDER BY rebalances DESC, seconds DESC NULLS LAST, cluster_id, group_id LIMIT {SHOWN_ROWS}"""  # noqa: S608 - times, numbers and one escaped name
    }


def _number_with(cause: str) -> str:
    return f"count(CASE WHEN cause = '{cause}' THEN 1 END)"


def _content(answers: Answers, _scope: Scope) -> Content:
    groups = answers["groups"]
    if not groups:
        return Content()
    tile = Tile(short_count(groups[0]["all_rebalances"]), "rebalances", "in this time")
    listing = listings("Groups with the most rebalances", groups, _COLUMNS)
    return Content([tile], listings=listing)


def _duration(row: Row) -> str:
    shown = duration(row["seconds"])
    return f"at least {shown}" if row["is_least"] and row["seconds"] is not None else shown


_COLUMNS = (
    Column("Group", name_of, "name"),
    Column("Rebalances", "rebalances", "number"),
    Column("Joins", "joins", "number"),
    Column("Leaves", "leaves", "number"),
    Column("Timeouts", "timeouts", "number"),
    Column("Duration", _duration, "number"),
    Column("Last", "last_at", "time"),
)

REBALANCED = Section(
    name="rebalances",
    title="Rebalances",
    lead="While a group rebalances, members wait for partitions. Joins, leaves and timeouts are the causes that the log shows. "
    "The log of a classic group has no begin of a rebalance, so its duration is the least.",
    nothing="No group rebalanced in this time.",
    example="SELECT * FROM rebalances ORDER BY started_at DESC",
    queries=_queries,
    content=_content,
)
