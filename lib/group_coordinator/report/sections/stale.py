"""Section of the topics without reading groups or without writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from group_coordinator.report.phrases import count, time_text
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
        "topics": f"""
SELECT stale_topics.*, count(*) OVER () AS total FROM stale_topics WHERE {scope.is_of_cluster()}
ORDER BY total_lag DESC NULLS LAST, cluster_id, topic LIMIT {SHOWN_ROWS}"""  # noqa: S608 - times, numbers and one escaped name
    }


def _content(answers: Answers, scope: Scope) -> Content:
    topics = answers["topics"]
    # Without rows the page shows the section's sentence.
    return Content(listings=(_listing(topics, scope),) if topics else ())


def _listing(topics: Sequence[Row], scope: Scope) -> Listing:
    return Listing(
        "Stale topics",
        headings(["Topic", "Why", "#Groups", "#Records behind", "Last commit", "Last written"]),
        [
            [
                Cell(name_of(row, scope, "topic"), "name"),
                Cell(row["why"]),
                Cell(count(row["group_count"]), "number"),
                Cell(count(row["total_lag"]), "number"),
                Cell(time_text(row["last_commit_at"]), "time"),
                Cell(time_text(row["last_written_at"]), "time"),
            ]
            for row in topics
        ],
        topics[0]["total"],
    )


STALE = Section(
    name="stale",
    title="Stale topics",
    lead="Groups have offsets of these topics, and no group reads them. unread: new records are still written. "
    "unused: no new records are written. deleted: the topic does not exist any more.",
    nothing="No topic is stale.",
    example="SELECT * FROM stale_topics",
    queries=_queries,
    content=_content,
)
