"""Section of the groups that can change to the protocol of KIP-848, and of those that cannot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from group_coordinator.report.phrases import NOTHING, count
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
    return {
        "verdicts": f"""
SELECT verdict, count(*) AS group_count, sum(member_count) AS members FROM readiness WHERE {scope.is_of_cluster()}
GROUP BY verdict ORDER BY group_count DESC, verdict""",  # noqa: S608 - one escaped name
        "blocked": f"""
SELECT cluster_id, group_id, blocker, assignor, array_to_string(client_names, ', ') AS clients, member_count,
  count(*) OVER () AS total
FROM readiness WHERE verdict = 'blocked' AND {scope.is_of_cluster()}
ORDER BY member_count DESC, cluster_id, group_id LIMIT {SHOWN_ROWS}""",  # noqa: S608 - numbers and one escaped name
    }


def _content(answers: Answers, scope: Scope) -> Content:
    verdicts, blocked = answers["verdicts"], answers["blocked"]
    if not verdicts:
        return Content()
    listings = [_counts(verdicts)]
    if blocked:
        listings.append(_listing(blocked, scope))
    return Content(listings=listings)


def _counts(verdicts: Sequence[Row]) -> Listing:
    rows = [
        [
            Cell(row["verdict"]),
            Cell(count(row["group_count"]), "number"),
            Cell(count(row["members"]), "number"),
        ]
        for row in verdicts
    ]
    return Listing(
        "Groups by verdict", headings(["Verdict", "#Groups", "#Members"]), rows, len(rows)
    )


def _listing(blocked: Sequence[Row], scope: Scope) -> Listing:
    return Listing(
        "Blocked groups",
        headings(["Group", "Blocker", "Assignor", "#Members", "Client ids"]),
        [
            [
                Cell(name_of(row, scope), "name"),
                Cell(row["blocker"]),
                Cell(row["assignor"] or NOTHING, "name"),
                Cell(count(row["member_count"]), "number"),
                Cell(row["clients"] or NOTHING, "name"),
            ]
            for row in blocked
        ],
        blocked[0]["total"],
    )


READINESS = Section(
    name="readiness",
    title="Ready for the new protocol",
    lead="Classic groups that can change to the protocol of KIP-848 while their members run (ready), those that cannot (blocked), "
    "and those that have (mixed, done). A blocked group can change while all of its members are stopped.",
    nothing="There is no group that could change.",
    example="SELECT * FROM readiness",
    queries=_queries,
    content=_content,
)
