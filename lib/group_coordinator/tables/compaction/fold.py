"""Changes of a group's rows by new entries of its log. Plain Python, on the driver and in Spark's workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from msgspec import structs

from group_coordinator.tables.compaction.offset_rows import Retention
from group_coordinator.tables.compaction.replayed_group import ReplayedGroup
from group_coordinator.tables.compaction.rows import GroupKey, GroupRows, StoredLogEntry, TableRow

_NO_NAMES: Mapping[str, str] = MappingProxyType({})


class Change(NamedTuple):
    """A change of a row: put it into its table, or delete the row with its key."""

    table: str
    delete: bool
    row: TableRow


def fold(
    key: GroupKey,
    before: GroupRows,
    log: Iterable[StoredLogEntry],
    retention: Retention,
    topic_names: Mapping[str, str] = _NO_NAMES,
) -> Iterator[Change]:
    """Yield the changes that bring a group's rows up to date. A repeat yields none.

    Args:
        key: the group.
        before: its rows.
        log: its new entries, in any order.
        retention: for the forecasts.
        topic_names: names of the cluster's topics by id, in addition to those in the log and the rows.
    """
    # Spark gives rows in any order; entries sort in the order of writing.
    entries = sorted(log)
    if not entries:
        return
    group = ReplayedGroup(key, before, topic_names)
    for entry in entries:
        group.apply(entry)
    after = group.rows(entries[-1], retention).by_table()
    for table, rows in before.by_table().items():
        for row_key, row in after[table].items():
            if _has_changed(rows.get(row_key), row):
                yield Change(table, delete=False, row=row)
        for row_key, row in rows.items():
            if row_key not in after[table]:
                yield Change(table, delete=True, row=row)


def _has_changed(before: TableRow | None, after: TableRow) -> bool:
    # A row that differs only in its last record is unchanged.
    if before is None or before is after:
        return before is None
    return before != structs.replace(after, updated_at=before.updated_at, batch_id=before.batch_id)
