"""Sections of the page in their order, and the queries of the tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pyarrow as pa

from group_coordinator.clients.errors import QueryError
from group_coordinator.clients.moment import Moment
from group_coordinator.clients.sql_tables import Session, session
from group_coordinator.report.phrases import name_text
from group_coordinator.report.scope import Scope
from group_coordinator.report.section import Content, Row, Section
from group_coordinator.report.sections.changes import CHANGES
from group_coordinator.report.sections.commits import COMMITS
from group_coordinator.report.sections.expiring import EXPIRING
from group_coordinator.report.sections.groups import GROUPS
from group_coordinator.report.sections.lag import LAG
from group_coordinator.report.sections.lost import LOST
from group_coordinator.report.sections.stale import STALE

SECTIONS = (GROUPS, LAG, COMMITS, EXPIRING, LOST, CHANGES, STALE)


_NAMES = frozenset({"cluster_id", "group_id", "topic", "principal", "max_lag_topic"})
"""Columns of the queries with names that clients choose."""


class Report(NamedTuple):
    """Content of the page: its scope, the names of the clusters, and each section's content or error."""

    scope: Scope
    clusters: tuple[str, ...]
    contents: Mapping[str, Content | QueryError]


def ask(root: str, scope: Scope, moment: Moment | None = None) -> Report:
    """Run the queries of all sections on the same version of each table.

    Args:
        root: the tables' folder.
        scope: the time, and the cluster.
        moment: time travel; None: the current tables.

    Raises:
        TablesUnavailableError: there are no tables under the root.
        QueryError: the tables cannot be read at all, or have other clusters than the scope's.
    """
    of_clusters = _clusters(scope)
    # The session opens only the tables and views that these queries name.
    about = " ".join(
        [of_clusters, *(query for one in SECTIONS for query in one.queries(scope).values())]
    )
    with session(root, about, moment) as tables:
        clusters = tuple(sorted(row["cluster_id"] for row in _rows(tables, of_clusters)))
        # With a single cluster the page does not repeat its name at each group.
        if scope.cluster is None and len(clusters) == 1:
            scope = scope._replace(cluster=clusters[0])
        _check_cluster(scope.cluster, clusters)
        return Report(scope, clusters, {one.name: _content(one, tables, scope) for one in SECTIONS})


def _check_cluster(cluster: str | None, known: tuple[str, ...]) -> None:
    # Tables without a group have no cluster yet.
    if cluster is not None and known and cluster not in known:
        raise QueryError(
            f"the tables have no cluster {cluster!r} in this time; they have {', '.join(map(repr, known))}"
        )


def _clusters(scope: Scope) -> str:
    # Clusters with a group, or with records in this time. Other clusters are in no section.
    return (
        "SELECT cluster_id FROM groups "  # noqa: S608 - times and an escaped name
        f"UNION SELECT cluster_id FROM coordinator_log WHERE {scope._replace(cluster=None).has('event_time')}"
    )


def _content(section: Section, tables: Session, scope: Scope) -> Content | QueryError:
    # A query that fails, as on tables of an earlier version, does not affect the other sections.
    try:
        answers = {
            name: [_with_names_to_show(row) for row in _rows(tables, query)]
            for name, query in section.queries(scope).items()
        }
    except QueryError as error:
        return error
    return section.content(answers, scope)


def _with_names_to_show(row: Row) -> Row:
    # Invisible characters of clients' names must not deceive the reader.
    names = {column: name_text(row[column]) for column in _NAMES & row.keys() if row[column]}
    return row | names


def _rows(tables: Session, query: str) -> list[Row]:
    # Python's datetime has microseconds, but DataFusion may return nanoseconds.
    answer = tables.sql(query)
    fields = [
        field.with_type(pa.timestamp("us", field.type.tz))
        if pa.types.is_timestamp(field.type)
        else field
        for field in answer.schema
    ]
    return answer.cast(pa.schema(fields)).to_pylist()  # type: ignore[no-any-return]
