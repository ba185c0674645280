"""Simulation of another retention on coordinator_log: the offsets that it would have removed; no JVM, no Spark."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from deltalake import QueryBuilder

from group_coordinator.clients.as_of_time import AsOfTime
from group_coordinator.clients.errors import TablesUnavailableError
from group_coordinator.clients.query_results import log_by_group
from group_coordinator.clients.sql_tables import open_tables, reported_in_one_line
from group_coordinator.codecs.records import log_entry
from group_coordinator.codecs.records.log_entry import RecordError
from group_coordinator.codecs.records.record_types import OF_SHARE_GROUPS, OF_STREAMS_GROUPS
from group_coordinator.core.model.records import Reason, Record
from group_coordinator.runtime.what_if import StreamsAsConsumers, TimedRecord, WhatIf
from group_coordinator.tables.timestamps import shown_ms
from group_coordinator.tables.views.definition import is_one_of

_INSTANT = pa.timestamp("ms", "UTC")
SCHEMA = pa.schema(
    [
        ("cluster_id", pa.string()),
        ("group_id", pa.string()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("last_offset", pa.int64()),
        ("committed_at", _INSTANT),
        ("removed_at", _INSTANT),
        ("committed_again_at", _INSTANT),
        ("lost_in_fact_at", _INSTANT),
    ]
)
"""Columns of the result; the last two are null if it did not happen."""

_log = logging.getLogger(__name__)
_COLUMNS = ("key", "value", "reason")
_REASONS = {reason.value: reason for reason in Reason}


def what_if(root: str, as_of_time: AsOfTime, groups: Sequence[str] = ()) -> pa.Table:
    """Return a row for each offset that the settings of `as_of_time` would have removed until then, of all groups or of `groups`.

    Raises TablesUnavailableError: there is no log under the root. QueryError: it cannot be read; the message is a single line.
    """
    # The other tables have no history.
    log = open_tables(root).get("coordinator_log")
    if log is None:
        raise TablesUnavailableError(
            f"tables.root = {root} has no table coordinator_log: run `group-coordinator init`"
        )
    builder = QueryBuilder().register("coordinator_log", log)
    with reported_in_one_line():
        return pa.Table.from_pylist(list(_rows(builder, as_of_time, groups)), SCHEMA)


def _rows(
    builder: QueryBuilder, as_of_time: AsOfTime, groups: Sequence[str]
) -> Iterator[dict[str, Any]]:
    condition = as_of_time.has_seen("event_time")
    if groups:
        condition += f" AND {is_one_of('group_id', groups)}"
    unseen = set(groups)
    for (cluster_id, group_id), log in log_by_group(builder, _COLUMNS, condition):
        unseen.discard(group_id)
        for gone in WhatIf(group_id, as_of_time.config).removals(_logged(log), as_of_time.in_ms):
            yield {
                "cluster_id": cluster_id,
                "group_id": group_id,
                "topic": gone.topic,
                "partition": gone.partition,
                "last_offset": gone.offset,
                "committed_at": shown_ms(gone.committed_at_ms),
                "removed_at": gone.removed_at_ms,
                "committed_again_at": gone.committed_again_at_ms,
                "lost_in_fact_at": gone.lost_at_ms,
            }
    for group_id in sorted(unseen):
        # Without rows the offsets of an unknown group would look safe.
        _log.warning("coordinator_log has no record of group %r up to that time", group_id)


def _logged(log: Iterable[dict[str, Any]]) -> Iterator[TimedRecord]:
    """Records of a group's rows for the replay. Share groups have no offsets; streams groups are converted to consumer groups."""
    streams = StreamsAsConsumers()
    for row in log:
        # Reasons of a later version do not matter here.
        reason = _REASONS.get(row["reason"], Reason.MIRRORED)
        try:
            for record in _records(row["key"], row["value"], reason, streams):
                yield TimedRecord(row["event_time"], record)
        except RecordError as fault:
            _log.warning("a record is skipped: %s", fault)


def _records(
    key: str, value: str | None, reason: Reason, streams: StreamsAsConsumers
) -> Iterable[Record]:
    record_type = log_entry.type_of(key)
    if record_type in OF_STREAMS_GROUPS:
        return streams.records(record_type, key, value, reason)
    return () if record_type in OF_SHARE_GROUPS else (log_entry.decode(key, value, reason),)
