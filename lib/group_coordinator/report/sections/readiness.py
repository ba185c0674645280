"""Section of the groups that can change to the protocol of KIP-848, and of those that cannot."""

from __future__ import annotations

from group_coordinator.report.section import (
    SHOWN_ROWS,
    Answers,
    Column,
    Content,
    Scope,
    Section,
    listings,
    name_of,
)


def _queries(scope: Scope) -> dict[str, str]:
    return {
        "verdicts": f"""
SELECT verdict, count(*) AS group_count, sum(member_count) AS members, count(*) OVER () AS total FROM readiness
WHERE {scope.is_of_cluster()} GROUP BY verdict ORDER BY group_count DESC, verdict""",  # noqa: S608 - one escaped name
        "blocked": f"""
SELECT cluster_id, group_id, blocker, assignor, array_to_string(client_names, ', ') AS clients, member_count,
  count(*) OVER () AS total
FROM readiness WHERE verdict = 'blocked' AND {scope.is_of_cluster()}
ORDER BY member_count DESC, cluster_id, group_id LIMIT {SHOWN_ROWS}""",  # noqa: S608 - numbers and one escaped name
    }


def _content(answers: Answers, _scope: Scope) -> Content:
    verdicts = listings("Groups by verdict", answers["verdicts"], _COUNTS)
    return Content(listings=(*verdicts, *listings("Blocked groups", answers["blocked"], _BLOCKED)))


_COUNTS = (
    Column("Verdict", "verdict"),
    Column("Groups", "group_count", "number"),
    Column("Members", "members", "number"),
)
_BLOCKED = (
    Column("Group", name_of, "name"),
    Column("Blocker", "blocker"),
    Column("Assignor", "assignor", "name"),
    Column("Members", "member_count", "number"),
    Column("Client ids", "clients", "name"),
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
