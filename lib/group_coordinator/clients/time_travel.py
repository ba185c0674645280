"""Tables at an earlier time: append-only tables without later rows, state tables by a new compaction of the log.

Older versions of the Delta tables do not help: they are kept for a day.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder, write_deltalake

from group_coordinator.clients.as_of_time import AsOfTime
from group_coordinator.clients.query_results import log_by_group
from group_coordinator.tables.compaction.rows import (
    ENTRY_COLUMNS,
    GroupKey,
    GroupRows,
    Retention,
    StoredLogEntry,
    TableRow,
    to_arrow,
)
from group_coordinator.tables.compaction.spark import apply_entries
from group_coordinator.tables.creation import COMPACTED
from group_coordinator.tables.timestamps import ROW_TIMES
from group_coordinator.tables.views.all_views import named_in
from group_coordinator.tables.views.labels import LABELS

_LOG = "coordinator_log"
_TOPIC_IDS = "topic_ids"


def register(
    builder: QueryBuilder,
    tables: dict[str, DeltaTable],
    as_of_time: AsOfTime,
    sql: str,
    scratch: str,
) -> list[str]:
    """Register the tables as of the time; return the registered names. State tables that the query does not name are left out.

    `scratch` is a folder that lasts until the query is answered.
    """
    names = [name for name in ROW_TIMES if name in tables]
    for name in names:
        # The view has the table's name, so that queries stay the same.
        builder.register(f"{name}_of_now", tables[name])
        builder.execute(
            f"CREATE VIEW {name} AS SELECT * FROM {name}_of_now "  # noqa: S608 - names of our own
            f"WHERE {as_of_time.has_seen(ROW_TIMES[name])}"
        )
    if LABELS in tables:
        # Labels have no time: the present labels are those of every time.
        builder.register(LABELS, tables[LABELS])
        names.append(LABELS)
    compacted = [definition.name for definition in COMPACTED]
    # Compaction of the whole log takes long, so it runs only for queries that need it.
    if _LOG not in names or named_in(sql).isdisjoint(compacted):
        return names
    names_of_topics = _topic_names(builder) if _TOPIC_IDS in names else {}
    rows = _changes(builder, as_of_time, names_of_topics)
    for definition in COMPACTED:
        folder = Path(scratch) / definition.name
        write_deltalake(
            folder, to_arrow(rows[definition.name], definition.no_rows().schema), mode="overwrite"
        )
        builder.register(definition.name, DeltaTable(folder))
    return [*names, *compacted]


def _topic_names(builder: QueryBuilder) -> dict[str, dict[str, str]]:
    """Topic names by id, by cluster, as of now: a topic id belongs to the same topic for ever."""
    names: dict[str, dict[str, str]] = defaultdict(dict)
    found = builder.execute(f"SELECT cluster_id, topic_id, topic FROM {_TOPIC_IDS}_of_now")  # noqa: S608 - names of our own
    for row in pa.table(found).to_pylist():
        names[row["cluster_id"]][row["topic_id"]] = row["topic"]
    return names


def _changes(
    builder: QueryBuilder, as_of_time: AsOfTime, names: Mapping[str, Mapping[str, str]]
) -> dict[str, list[TableRow]]:
    retention = Retention(
        as_of_time.config.retention_ms, as_of_time.config.offsets_retention_check_interval_ms
    )
    columns = [name for name in ENTRY_COLUMNS if name != "event_time"]
    rows: dict[str, list[TableRow]] = defaultdict(list)
    for (cluster_id, group_id), log in log_by_group(builder, columns, as_of_time.of_groups):
        key, topic_names = GroupKey(cluster_id, group_id), names.get(cluster_id, {})
        entries = [
            StoredLogEntry(**{name: row[name] for name in (*columns, "event_time")}) for row in log
        ]
        for change in apply_entries(key, GroupRows(), entries, retention, topic_names):
            rows[change.table].append(change.row)
    return rows
