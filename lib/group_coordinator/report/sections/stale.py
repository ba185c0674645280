"""Section of the topics without reading groups or without writes."""

from __future__ import annotations

from group_coordinator.report.section import SHOWN_ROWS, Column, Scope, Section, listed, name_of


def _queries(scope: Scope) -> dict[str, str]:
    return {
        "topics": f"""
SELECT stale_topics.*, count(*) OVER () AS total FROM stale_topics WHERE {scope.is_of_cluster()}
ORDER BY total_lag DESC NULLS LAST, cluster_id, topic LIMIT {SHOWN_ROWS}"""  # noqa: S608 - times, numbers and one escaped name
    }


_COLUMNS = (
    Column("Topic", lambda row: name_of(row, "topic"), "name"),
    Column("Why", "why"),
    Column("Groups", "group_count", "number"),
    Column("Records behind", "total_lag", "number"),
    Column("Last commit", "last_commit_at", "time"),
    Column("Last written", "last_written_at", "time"),
)

STALE = Section(
    name="stale",
    title="Stale topics",
    lead="Groups have offsets of these topics, and no group reads them. unread: new records are still written. "
    "unused: no new records are written. deleted: the topic does not exist any more.",
    nothing="No topic is stale.",
    example="SELECT * FROM stale_topics",
    queries=_queries,
    content=listed("topics", "Stale topics", _COLUMNS),
)
