"""Curves of a run, from the log alone: the numbers of groups and offsets over time, and the losses."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

WITH_MEMBERS, EMPTY, OFFSETS_ONLY = "with members", "empty", "offsets only"
KINDS = (WITH_MEMBERS, EMPTY, OFFSETS_ONLY)
"""Kinds of groups; the last never had a member."""

_GROUP_RECORD, _EPOCH_RECORD, _MEMBER_RECORD = 2, 3, 5
"""Record types of a classic group with its members, of a consumer group, and of its member."""
_OFFSET_RECORDS = frozenset({0, 1})
_COMMIT = "offset-commit"
_LOSSES = {
    "offset-expired": "expired",
    "offset-deleted": "deleted",
    "group-deleted": "deleted",
}


class LogRow(NamedTuple):
    """The fields of a row of coordinator_log that the curves need."""

    at_s: float
    group_id: str
    record_type: int
    reason: str
    topic: str | None
    partition: int | None
    is_tombstone: bool
    has_members: bool
    """Only for a classic group."""
    member_id: str | None = None
    """Only for a member of a consumer group."""


class Loss(NamedTuple):
    """Offsets that a group lost at the same time; 0: the group itself was deleted."""

    at_s: float
    group_id: str
    how: str
    """expired or deleted"""
    offset_count: int


@dataclass
class Timeline:
    """Curves that change at `times_s` and are level in between."""

    times_s: list[float] = field(default_factory=list)
    groups: dict[str, list[int]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    offsets: list[int] = field(default_factory=list)
    commit_times_s: list[float] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)


def timeline(rows: Iterable[LogRow]) -> Timeline:
    """Replay the log; rows in order of time, those of a group in the order of writing."""
    curves = Timeline()
    kinds: dict[str, str] = {}
    held: set[tuple[str, str | None, int | None]] = set()
    lost: Counter[tuple[float, str, str]] = Counter()
    members: defaultdict[str, set[str | None]] = defaultdict(set)
    for row in rows:
        if row.record_type in _OFFSET_RECORDS:
            _apply_offset(row, kinds, held)
        else:
            _apply_group(row, kinds, members)
        if row.reason == _COMMIT:
            curves.commit_times_s.append(row.at_s)
        if row.is_tombstone and row.reason in _LOSSES:
            lost[row.at_s, row.group_id, _LOSSES[row.reason]] += row.record_type in _OFFSET_RECORDS
        _mark(curves, row.at_s, Counter(kinds.values()), len(held))
    curves.losses = [Loss(*key, count) for key, count in lost.items()]
    return curves


def _apply_offset(
    row: LogRow, kinds: dict[str, str], held: set[tuple[str, str | None, int | None]]
) -> None:
    key = (row.group_id, row.topic, row.partition)
    if row.is_tombstone:
        held.discard(key)
    else:
        kinds.setdefault(row.group_id, OFFSETS_ONLY)
        held.add(key)


def _apply_group(
    row: LogRow, kinds: dict[str, str], members: defaultdict[str, set[str | None]]
) -> None:
    # A group that changes its protocol is not deleted: its new records follow at once.
    if row.record_type == _MEMBER_RECORD:
        of_group = members[row.group_id]
        (of_group.discard if row.is_tombstone else of_group.add)(row.member_id)
        kinds[row.group_id] = WITH_MEMBERS if of_group else EMPTY
    elif row.record_type in (_GROUP_RECORD, _EPOCH_RECORD) and row.is_tombstone:
        kinds.pop(row.group_id, None)
    elif row.record_type == _GROUP_RECORD:
        kinds[row.group_id] = WITH_MEMBERS if row.has_members else EMPTY
    elif row.record_type == _EPOCH_RECORD:
        kinds[row.group_id] = WITH_MEMBERS if members[row.group_id] else EMPTY


def _mark(curves: Timeline, at_s: float, kinds: Counter[str], held: int) -> None:
    # Rows of the same time are a single change.
    # A point in time has a single value on each curve.
    if curves.times_s and curves.times_s[-1] == at_s:
        curves.offsets.pop()
        for counts in curves.groups.values():
            counts.pop()
    else:
        curves.times_s.append(at_s)
    curves.offsets.append(held)
    for kind, counts in curves.groups.items():
        counts.append(kinds[kind])
