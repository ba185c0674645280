"""Views over rows that a test has in memory: hundreds of cases a second, where tables would take a second each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
from deltalake import QueryBuilder

from group_coordinator.tables.views.all_views import VIEWS, named_in
from group_coordinator.tables.views.definition import DATAFUSION

_CHANGES = {
    "cluster_id": "STRING",
    "group_id": "STRING",
    "topic": "STRING",
    "partition": "INT",
    "after": "BIGINT",
    "at": "TIMESTAMP",
    "batch_id": "BIGINT",
    "seq": "INT",
}
SOURCES: Mapping[str, Mapping[str, str]] = {
    "topic_positions": {
        "cluster_id": "STRING",
        "topic": "STRING",
        "partition": "INT",
        "log_start_offset": "BIGINT",
        "log_end_offset": "BIGINT",
        "last_stable_offset": "BIGINT",
        "sampled_at": "TIMESTAMP",
    },
    "share_group_offsets": {
        "cluster_id": "STRING",
        "group_id": "STRING",
        "topic": "STRING",
        "partition": "INT",
        "start_offset": "BIGINT",
        "lag": "BIGINT",
        "sampled_at": "TIMESTAMP",
    },
    "offsets": {
        "cluster_id": "STRING",
        "group_id": "STRING",
        "topic": "STRING",
        "partition": "INT",
        "committed_offset": "BIGINT",
        "commit_timestamp": "TIMESTAMP",
        "updated_at": "TIMESTAMP",
    },
    "group_labels": {
        "cluster_id": "STRING",
        "pattern": "STRING",
        "owner": "STRING",
        "tier": "STRING",
        "objective_seconds": "INT",
    },
    "groups": {
        "cluster_id": "STRING",
        "group_id": "STRING",
        "group_type": "STRING",
        "protected_topics": "LIST",
    },
    "members": {
        "cluster_id": "STRING",
        "group_id": "STRING",
        "member_id": "STRING",
        "client_id": "STRING",
        "client_host": "STRING",
        "subscribed_topics": "LIST",
        "assigned_partitions": "LIST",
    },
    "offset_changes": _CHANGES,
    "coordinator_log": {
        "cluster_id": "STRING",
        "group_id": "STRING",
        "topic": "STRING",
        "partition": "INT",
        "record_type": "INT",
        "offset": "BIGINT",
        "event_time": "TIMESTAMP",
        "batch_id": "BIGINT",
        "seq": "INT",
        "value": "STRING",
        "reason": "STRING",
        "principal": "STRING",
    },
}
"""The columns that the views read. Times are given in seconds; of lists only empty ones can be given, as None."""

_NO_TOPICS = "make_array('x')"
_NO_PARTITIONS = "make_array(named_struct('topic', 'x', 'partition', 0))"
Rows = Mapping[str, Iterable[Mapping[str, Any]]]


def answers(rows: Rows, *views: str) -> list[list[dict[str, Any]]]:
    """What each of the views says; sources that are not given are empty."""
    builder = QueryBuilder()
    names = {name: name for name in SOURCES}
    for name in SOURCES:
        builder.execute(f"CREATE VIEW {name} AS {_select(name, list(rows.get(name, ())))}")
    wanted = named_in(" ".join(views)) - names.keys()
    for view in VIEWS:
        if view.name in wanted:
            builder.execute(f"CREATE VIEW {view.name} AS {view.sql(DATAFUSION, names)}")
            names[view.name] = view.name
    return [pa.table(builder.execute(f"SELECT * FROM {view}")).to_pylist() for view in views]  # noqa: S608 - our own names


def _select(name: str, rows: list[Mapping[str, Any]]) -> str:
    columns = SOURCES[name]
    found = rows or [dict.fromkeys(columns)]
    values = ", ".join(
        f"({', '.join(_value(row.get(column)) for column in columns)})" for row in found
    )
    typed = ", ".join(_typed(column, kind) for column, kind in columns.items())
    condition = "" if rows else " WHERE false"
    return f"SELECT {typed} FROM (VALUES {values}) AS given({', '.join(f'`{c}`' for c in columns)}){condition}"  # noqa: S608 - our own names


def _value(value: object) -> str:
    return "NULL" if value is None else f"'{value}'" if isinstance(value, str) else str(value)


def _typed(column: str, kind: str) -> str:
    if kind == "TIMESTAMP":
        in_micros = f"CAST(CAST(`{column}` AS DOUBLE) * 1000000 AS BIGINT)"
        return f"arrow_cast({in_micros}, 'Timestamp(Microsecond, Some(\"UTC\"))') AS `{column}`"
    if kind == "LIST":
        example = _NO_PARTITIONS if column == "assigned_partitions" else _NO_TOPICS
        return f"CASE WHEN `{column}` IS NOT NULL THEN {example} END AS `{column}`"
    return f"CAST(`{column}` AS {kind}) AS `{column}`"
