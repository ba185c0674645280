"""Polls at any moments of a recorded life: after each, the rows of all polls make the groups as they were at that moment."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from group_coordinator.codecs.records.record_types import REMOVAL_ORDER
from group_coordinator.mirror.admin_source import ObservedGroups, packed, unpacked
from group_coordinator.mirror.observed_records import Records, at_time
from group_coordinator.tables.compaction.rows import GroupKey, GroupRows, Retention, StoredLogEntry
from group_coordinator.tables.compaction.spark import apply_entries
from tests.support.endings import RETENTION_MS, GroupSaid, recording

RECORDING = recording()
LIFE = [row for row in RECORDING.rows if row["record_type"] in REMOVAL_ORDER]
"""Every way in which offsets and groups of every type end."""
MOMENTS = [
    number
    for number, (before, after) in enumerate(pairwise(LIFE), 1)
    if before["event_time_ms"] != after["event_time_ms"]
]
"""Numbers of records between two appends: records of an append change a group at once."""
RETENTION = Retention(RETENTION_MS, check_interval_ms=1_000)
TIMES = re.compile(r'"(commitTimestamp|currentStateTimestamp)":\d+')


def applied(records: dict[str, Records], group: str, key: str, value: str | None) -> None:
    if value is None:
        records[group].pop(key, None)
    else:
        records[group][key] = TIMES.sub(r'"\1":0', value)


def groups_in(records: dict[str, Records]) -> dict[str, Records]:
    """The groups that a broker lists."""
    return {group: dict(found) for group, found in records.items() if found}


def poll(groups: dict[str, Records], at_ms: int) -> list[dict[str, Any]]:
    common = {"polled_at_ms": at_ms, "error": "", "settled": True}
    return [
        {"group_id": group, "records": packed(found), **common} for group, found in groups.items()
    ]


@given(st.sets(st.sampled_from(MOMENTS), max_size=8))
def test_after_each_poll_the_groups_are_those_of_its_moment(moments: set[int]) -> None:
    known = ObservedGroups({}, list, lambda _topics: ())
    alive, made = defaultdict[str, Records](dict), defaultdict[str, Records](dict)
    entries: dict[str, list[StoredLogEntry]] = defaultdict(list)
    before = 0
    for moment in sorted({*moments, len(LIFE)}):
        for row in LIFE[before:moment]:
            applied(alive, row["group_id"], row["key"], row["value"])
        for group, time_ms, found in known.changed(poll(groups_in(alive), moment)):
            for seq, change in enumerate(found):
                applied(made, group, change.key, change.value)
                value = None if change.value is None else at_time(change.value, time_ms)
                entries[group].append(entry(moment, seq, change.key, value))
        before = moment

        assert groups_in(made) == groups_in(alive)
        assert {group: unpacked(found) for group, found in known.groups.items()} == groups_in(alive)

    assert shown(entries) == RECORDING.groups


def entry(batch_id: int, seq: int, key: str, value: str | None) -> StoredLogEntry:
    return StoredLogEntry(batch_id, seq, key, value, batch_id, reason="observed", inferred=False)


def shown(entries: dict[str, list[StoredLogEntry]]) -> dict[str, GroupSaid]:
    """The groups that the tables have."""
    tables = {group: compacted(group, found) for group, found in entries.items()}
    return {
        group: GroupSaid(
            rows.group.group_type,
            rows.group.state,
            {place: offset.committed_offset for place, offset in rows.offsets.items()},
        )
        for group, rows in tables.items()
        if rows.group is not None
    }


def compacted(group: str, entries: Iterable[StoredLogEntry]) -> GroupRows:
    left = GroupRows()
    for change in apply_entries(GroupKey("c", group), GroupRows(), entries, RETENTION):
        left.add(change.row)
    return left
