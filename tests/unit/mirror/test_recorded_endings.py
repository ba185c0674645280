"""How offsets and groups end on a real broker, and what is inferred of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter

import pytest

from group_coordinator.mirror.group_so_far import GroupSoFar, LoggedRow
from group_coordinator.mirror.inference import ClusterFacts, infer_reasons
from group_coordinator.tables.compaction.rows import GroupKey, GroupRows, Retention, StoredLogEntry
from group_coordinator.tables.compaction.spark import apply_entries
from tests.support.endings import ENDINGS, RETENTION_MS, GroupSaid, as_logged, recording

RECORDING = recording()
FACTS = ClusterFacts(RETENTION_MS, RECORDING.topics)
RETENTION = Retention(RETENTION_MS, check_interval_ms=1_000)


def rows_of(group_id: str) -> list[LoggedRow]:
    return [as_logged(row) for row in RECORDING.rows if row["group_id"] == group_id]


def with_reasons(
    group: GroupSoFar, rows: Sequence[LoggedRow], batch_id: int
) -> Iterator[LoggedRow]:
    """The batch's rows."""
    found = {one.source_offset: one.reason for one in infer_reasons(group, rows, batch_id, FACTS)}
    for row in rows:
        if row.batch_id == batch_id:
            yield row._replace(reason=found.get(row.source_offset, row.reason))


def endings(rows: Sequence[LoggedRow]) -> list[str]:
    return [
        f"{'group' if row.topic is None else f'{row.topic}-{row.partition}'} {row.reason}"
        for row in rows
        if row.is_lost_offset or row.is_end_of_group
    ]


def compacted(group_id: str, rows: Sequence[LoggedRow]) -> GroupRows:
    """What the tables have of these rows of the log."""
    entries = [
        StoredLogEntry(
            *(row.batch_id, row.seq, row.key, row.value, row.event_time),
            reason=row.reason,
            inferred=row.reason != "mirrored",
        )
        for row in rows
    ]
    left = GroupRows()
    for change in apply_entries(GroupKey("c", group_id), GroupRows(), entries, RETENTION):
        left.add(change.row)
    return left


@pytest.mark.parametrize("group_id", ENDINGS)
def test_a_first_load_tells_why(group_id: str) -> None:
    rows = rows_of(group_id)

    found = list(with_reasons(GroupSoFar(group_id, GroupRows()), rows, 0))

    assert endings(found) == ENDINGS[group_id]


@pytest.mark.parametrize("lag", [0, 1, 3, 1_000])
@pytest.mark.parametrize("group_id", ENDINGS)
def test_a_mirror_that_goes_along_tells_the_same_however_far_compaction_is(
    group_id: str, lag: int
) -> None:
    """Each append is a batch; the tables are some of them behind, and the batch that they have last is read once more."""
    log: list[LoggedRow] = []
    appends = groupby(rows_of(group_id), key=attrgetter("event_time"))
    for batch_id, (_, append) in enumerate(appends):
        folded = batch_id - 1 - lag
        before = compacted(group_id, [row for row in log if row.batch_id <= folded])
        rows = [row for row in log if row.batch_id >= folded]
        rows += [row._replace(batch_id=batch_id) for row in append]
        log += with_reasons(GroupSoFar(group_id, before), rows, batch_id)

    assert endings(log) == ENDINGS[group_id]


def shown(group_id: str) -> GroupSaid | None:
    """A group as the tables have it."""
    rows = compacted(group_id, rows_of(group_id))
    if rows.group is None:
        return None
    offsets = {place: row.committed_offset for place, row in rows.offsets.items()}
    return GroupSaid(rows.group.group_type, rows.group.state, offsets)


@pytest.mark.parametrize("group_id", ENDINGS)
def test_what_is_left_is_what_the_broker_says_of_its_groups(group_id: str) -> None:
    assert shown(group_id) == RECORDING.groups.get(group_id)


def test_the_broker_wrote_of_no_other_groups() -> None:
    assert {row["group_id"] for row in RECORDING.rows} == {*ENDINGS}
