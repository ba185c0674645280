"""Section of the groups that were not within their objectives."""

from __future__ import annotations

from datetime import UTC

from group_coordinator.report.phrases import duration
from group_coordinator.report.section import SHOWN_ROWS, Column, Scope, Section, listed, name_of


def _queries(scope: Scope) -> dict[str, str]:
    # The view has whole days.
    midnight = scope.begin.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return {
        "objectives": f"""
SELECT cluster_id, group_id, owner, objective_seconds, sum(met * sampled_hours) / sum(sampled_hours) AS met,
  max(worst_seconds) AS worst_seconds, sum(sampled_hours) AS sampled_hours, count(*) OVER () AS total
FROM objectives WHERE {scope._replace(begin=midnight).has("`day`")}
GROUP BY cluster_id, group_id, owner, objective_seconds
ORDER BY met, worst_seconds DESC, cluster_id, group_id LIMIT {SHOWN_ROWS}"""  # noqa: S608 - times, numbers and one escaped name
    }


_COLUMNS = (
    Column("Group", name_of, "name"),
    Column("Owner", "owner"),
    Column("Objective", lambda row: duration(row["objective_seconds"]), "number"),
    # Cut, so that only a group without a miss has 100%.
    Column("Met", lambda row: f"{int(row['met'] * 1_000) / 10}%", "number"),
    Column("Longest time behind", lambda row: duration(row["worst_seconds"]), "number"),
    Column("Hours", "sampled_hours", "number"),
)

OBJECTIVES = Section(
    name="objectives",
    title="Objectives",
    lead="The part of the sampled minutes in which groups were within the lag in time that their owners want, of the whole "
    "days (UTC) of this time.",
    nothing="No group has an objective with a known lag: give objectives by `group-coordinator labels`.",
    example="SELECT * FROM objectives ORDER BY met LIMIT 100",
    queries=_queries,
    content=listed("objectives", "Groups with an objective, the worst first", _COLUMNS),
)
