"""HTML file with the answers, in the order of its sections, and the chart library."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from datetime import timedelta
from functools import cache, partial
from hashlib import sha256
from importlib import resources
from importlib.metadata import version
from typing import NamedTuple

import pyarrow as pa
import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined

from group_coordinator.clients.as_of_time import AsOfTime
from group_coordinator.clients.errors import QueryError
from group_coordinator.clients.sql_tables import Session, session
from group_coordinator.local.folders import cache_folder, only_one_process
from group_coordinator.report.phrases import name_text, of_things, time_text
from group_coordinator.report.section import Content, Row, Scope, Section, Tile
from group_coordinator.report.sections.changes import CHANGES
from group_coordinator.report.sections.commits import COMMITS
from group_coordinator.report.sections.expiring import EXPIRING
from group_coordinator.report.sections.groups import GROUPS
from group_coordinator.report.sections.lag import AT_RISK, LAG
from group_coordinator.report.sections.lost import LOST
from group_coordinator.report.sections.objectives import OBJECTIVES
from group_coordinator.report.sections.readiness import READINESS
from group_coordinator.report.sections.rebalances import REBALANCED
from group_coordinator.report.sections.stale import STALE
from group_coordinator.tables.views.lag import LAG_NOW

SECTIONS = (
    *(GROUPS, LAG, OBJECTIVES, AT_RISK, COMMITS, REBALANCED),
    *(EXPIRING, LOST, CHANGES, STALE, READINESS),
)


_NAMES = frozenset(
    {"cluster_id", "group_id", "topic", "principal", "max_lag_topic", "assignor", "clients"}
)
"""Columns of the queries with names that clients choose."""


class Report(NamedTuple):
    """Content of the page: its scope, the names of the clusters, and each section's content or error."""

    scope: Scope
    clusters: tuple[str, ...]
    contents: Mapping[str, Content | QueryError]


def ask(root: str, scope: Scope, as_of_time: AsOfTime | None = None) -> Report:
    """Run the queries of all sections on the same version of each table.

    Raises:
        TablesUnavailableError: there are no tables under the root.
        QueryError: the tables cannot be read at all, or have other clusters than the scope's.
    """
    of_clusters = _clusters(scope)
    # The session opens only the tables and views that these queries name.
    about = " ".join(
        [of_clusters, *(query for one in SECTIONS for query in one.queries(scope).values())]
    )
    with session(root, about, as_of_time, computed=(LAG_NOW.name,)) as tables:
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
        scope = section.narrowed(partial(_rows, tables), scope)
        answers = {
            name: [_with_names_to_show(row, scope) for row in _rows(tables, query)]
            for name, query in section.queries(scope).items()
        }
    except QueryError as error:
        return error
    return section.content(answers, scope)


def _with_names_to_show(row: Row, scope: Scope) -> Row:
    # Invisible characters of clients' names must not deceive the reader.
    names = {column: name_text(row[column]) for column in _NAMES & row.keys() if row[column]}
    # A page of a single cluster needs no cluster in names.
    if scope.cluster and "cluster_id" in names:
        names["cluster_id"] = ""
    return row | names


def _rows(tables: Session, query: str) -> list[Row]:
    response = tables.sql(query)
    # Python's datetime has microseconds, but DataFusion may return nanoseconds.
    kinds = ((field, field.type) for field in response.schema)
    fields = [
        field.with_type(pa.timestamp("us", kind.tz)) if pa.types.is_timestamp(kind) else field
        for field, kind in kinds
    ]
    return response.cast(pa.schema(fields)).to_pylist()  # type: ignore[no-any-return]


_SNIPPET = "window.vegaEmbed = vegaEmbed;"


@cache
def vega_script() -> str:
    """Script, about 0.9 MB, which sets window.vegaEmbed. The bundle takes seconds, so it is cached."""
    folder = cache_folder("vega")
    kept = folder / f"vl-convert-{version('vl-convert-python')}.js"
    with only_one_process(folder / "lock"):
        if not kept.exists():
            bundled = folder / "bundled"
            bundled.write_text(vl_convert.javascript_bundle(_SNIPPET), encoding="utf-8")
            # The rename is atomic, so a killed process leaves no partial script.
            bundled.replace(kept)
    return kept.read_text(encoding="utf-8")


_PACKAGE = "group_coordinator.report"


def page(report: Report, watch_every_s: float | None = None) -> str:
    """Whole page; with an interval it reloads its content from its server so often."""
    scripts = (vega_script(), _own("page.js"))
    return (
        _environment()
        .get_template("page.html")
        .render(
            **_values(report),
            style=_own("page.css"),
            scripts=scripts,
            # Inline scripts run only if their digests are in the policy.
            script_sources=" ".join(map(_source_of, scripts)),
            watch_every_s=watch_every_s,
        )
    )


def content(report: Report) -> str:
    """Part of the page that changes: the inside of its body."""
    return _environment().get_template("content.html").render(**_values(report))


def _values(report: Report) -> dict[str, object]:
    scope = report.scope
    return {
        "scope": scope,
        "clusters": [name_text(cluster_id) for cluster_id in report.clusters],
        "length": of_things((scope.end - scope.begin) // timedelta(hours=1), "hour"),
        "end": time_text(scope.end),
        "tiles": _tiles(report),
        "sections": [(section, report.contents[section.name]) for section in SECTIONS],
        "is_trouble": lambda found: isinstance(found, QueryError),
    }


def _tiles(report: Report) -> list[Tile]:
    return [
        tile
        for found in report.contents.values()
        if not isinstance(found, QueryError)
        for tile in found.tiles
    ]


@cache
def _environment() -> Environment:
    # Group ids come from clients, so everything is escaped.
    return Environment(
        loader=PackageLoader(_PACKAGE, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _own(name: str) -> str:
    return (resources.files(_PACKAGE) / "templates" / name).read_text(encoding="utf-8")


def _source_of(script: str) -> str:
    # A source in the page's Content-Security-Policy: no other script may run.
    return f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"
