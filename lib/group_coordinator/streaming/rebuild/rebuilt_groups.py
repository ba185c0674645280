"""Groups made anew from their log, as the seeds of a rebuilt checkpoint."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from operator import itemgetter
from typing import NamedTuple

import pandas as pd

from group_coordinator.codecs import snapshots
from group_coordinator.codecs.records import log_entry
from group_coordinator.core.model.group import Group
from group_coordinator.core.replay import replay
from group_coordinator.runtime.packing import pack_seed

COLUMNS = ("group_id", "key", "value", "event_time_ms")
"""The columns of the log that are read; its rows come sorted by group and, within a group, in the order of writing."""


class LoggedRecord(NamedTuple):
    """A record of the log: its JSON and when it was written, by the group's clock."""

    key: str
    value: str | None
    at_ms: int


def rebuilt_group(group_id: str, log: Iterable[LoggedRecord]) -> Group | None:
    """The group after all records of its log; None: it does not exist any more.

    It knows what a broker knows that has loaded the log: no parked joins and syncs, no pending ids, no pattern that is
    being resolved. Its members' sessions, and their time to give partitions back, begin with the batch that reads the
    seed (runtime/group_call.py). It knows no topics either, as the log has none: it asks for them (core/topics/needs.py).
    """
    group = Group(group_id)
    for record in log:
        replay(group, [log_entry.decode(record.key, record.value)], record.at_ms)
        group.clock_ms = max(group.clock_ms, record.at_ms)
    return None if group.is_forgotten else group


def rebuilt_groups(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Frames with COLUMNS become frames as source.py reads them, one row a group that exists.

    A group's rows may be in several frames, one after the other.
    """
    rows = chain.from_iterable(
        zip(*(frame[column] for column in COLUMNS), strict=True) for frame in frames
    )
    for group_id, of_group in groupby(rows, key=itemgetter(0)):
        group = rebuilt_group(group_id, (LoggedRecord(*row[1:]) for row in of_group))
        if group is not None:
            seed = pack_seed(snapshots.dump(group))
            yield pd.DataFrame({"group_id": [group_id], "event": [seed]})
