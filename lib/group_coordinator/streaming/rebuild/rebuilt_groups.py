"""Groups made anew from their log, as the seeds of a rebuilt checkpoint."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, NamedTuple

import pandas as pd

from group_coordinator.codecs import snapshots
from group_coordinator.codecs.records import log_entry
from group_coordinator.core.model.group import Group
from group_coordinator.core.replay import replay
from group_coordinator.runtime.packing import pack_seed

COLUMNS = ("group_id", "state", "key", "value", "event_time_ms")
"""The columns that are read; rows come sorted by group and, within a group, in the order of writing.

A group may begin with a row that has its state alone, from a snapshot; the others are rows of the log.
"""

STATES = "group_id STRING, state BINARY"


class LoggedRecord(NamedTuple):
    """A record of the log: its JSON and when it was written, by the group's clock."""

    key: str
    value: str | None
    at_ms: int


def rebuilt_group(
    group_id: str, log: Iterable[LoggedRecord], state: bytes | None = None
) -> Group | None:
    """The group after all records of its log, or after those since it had this state; None: it does not exist any more.

    It knows what a broker knows that has loaded the log: no parked joins and syncs, no pending ids, no pattern that is
    being resolved. Its members' sessions, and their time to give partitions back, begin with the batch that reads the
    seed (runtime/group_call.py). It knows no topics either, as the log has none: it asks for them (core/topics/needs.py).
    """
    group = Group(group_id) if state is None else snapshots.load(group_id, state)
    for record in log:
        replay(group, [log_entry.decode(record.key, record.value)], record.at_ms)
        group.clock_ms = max(group.clock_ms, record.at_ms)
    return None if group.is_forgotten else group


def states(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Frames with COLUMNS become frames with STATES, one row a group that exists."""
    for group_id, state in _rebuilt(frames):
        yield pd.DataFrame({"group_id": [group_id], "state": [state]})


def seeds(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Frames with COLUMNS become frames as source.py reads them, one row a group that exists."""
    for group_id, state in _rebuilt(frames):
        yield pd.DataFrame({"group_id": [group_id], "event": [pack_seed(state)]})


def _rebuilt(frames: Iterable[pd.DataFrame]) -> Iterator[tuple[str, bytes]]:
    """A group's rows may be in several frames, one after the other."""
    rows = chain.from_iterable(
        zip(*(frame[column] for column in COLUMNS), strict=True) for frame in frames
    )
    for group_id, of_group in groupby(rows, key=itemgetter(0)):
        group = _of_rows(group_id, of_group)
        if group is not None:
            yield group_id, snapshots.dump(group)


def _of_rows(group_id: str, rows: Iterator[tuple[Any, ...]]) -> Group | None:
    first = next(rows)
    _, state, *_ = first
    log = chain([first], rows) if state is None else rows
    return rebuilt_group(group_id, (LoggedRecord(*row[2:]) for row in log), state)
