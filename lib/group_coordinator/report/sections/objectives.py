"""Section of the groups that were not within their objectives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC

from group_coordinator.report.phrases import NOTHING, count, duration
from group_coordinator.report.section import (
    SHOWN_ROWS,
    Answers,
    Cell,
    Content,
    Listing,
    Row,
    Scope,
    Section,
    headings,
    name_of,
)


def _queries(scope: Scope) -> Mapping[str, str]:
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


def _content(answers: Answers, scope: Scope) -> Content:
    groups = answers["objectives"]
    return Content(listings=[_listing(groups, scope)] if groups else ())


def _listing(groups: Sequence[Row], scope: Scope) -> Listing:
    return Listing(
        "Groups with an objective, the worst first",
        headings(["Group", "Owner", "#Objective", "#Met", "#Longest time behind", "#Hours"]),
        [
            [
                Cell(name_of(row, scope), "name"),
                Cell(row["owner"] or NOTHING),
                Cell(duration(row["objective_seconds"]), "number"),
                # Cut, so that only a group without a miss has 100%.
                Cell(f"{int(row['met'] * 1_000) / 10}%", "number"),
                Cell(duration(row["worst_seconds"]), "number"),
                Cell(count(row["sampled_hours"]), "number"),
            ]
            for row in groups
        ],
        groups[0]["total"],
    )


OBJECTIVES = Section(
    name="objectives",
    title="Objectives",
    lead="The part of the sampled minutes in which groups were within the lag in time that their owners want, of the whole "
    "days (UTC) of this time.",
    nothing="No group has an objective with a known lag: give objectives by `group-coordinator labels`.",
    example="SELECT * FROM objectives ORDER BY met LIMIT 100",
    queries=_queries,
    content=_content,
)
