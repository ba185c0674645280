"""Scope of a report: a time range, and a cluster or all."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from math import ceil
from typing import NamedTuple

from group_coordinator.tables.quoting import in_datafusion
from group_coordinator.tables.timestamps import FIRST_MS
from group_coordinator.tables.views.definition import floor_of

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_STEPS = 150
_STEPS_S = (60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400)
_WEEK_S = 604_800


class Scope(NamedTuple):
    """Time range with time zones, and a cluster, None: all clusters. Its conditions are DataFusion's SQL."""

    begin: datetime
    end: datetime
    cluster: str | None = None

    def has(self, column: str) -> str:
        """Condition for rows of the time range, by a column with their time, and of the cluster."""
        return f"{column} >= {instant(self.begin)} AND {column} <= {instant(self.end)} AND {self.is_of_cluster()}"

    def is_of_cluster(self, table: str = "") -> str:
        """Condition for rows of the cluster."""
        if self.cluster is None:
            return "true"
        # A join needs the table's name.
        column = f"{table}.cluster_id" if table else "cluster_id"
        return f"{column} = {in_datafusion(self.cluster)}"

    @property
    def step_s(self) -> int:
        """Distance between the points of a chart in seconds: no more points than a screen can show."""
        least_s = (self.end - self.begin).total_seconds() / _MOST_STEPS
        weeks = ceil(least_s / _WEEK_S)
        return next((step for step in _STEPS_S if least_s <= step), weeks * _WEEK_S)

    def step_of(self, column: str) -> str:
        """Begin of the step that contains a time."""
        # date_bin computes in nanoseconds of 64 bits, which end in 1677 and 2262.
        begin = floor_of(f"CAST({column} AS BIGINT)", self.step_s * 1_000_000)
        # The first step may begin before the earliest time that can be shown.
        begin = f"greatest({begin}, {FIRST_MS * 1_000})"
        return f"arrow_cast({begin}, 'Timestamp(Microsecond, Some(\"UTC\"))')"

    def steps(self) -> list[datetime]:
        """Begins of the complete steps."""
        step = timedelta(seconds=self.step_s)
        # Rounded up: the first step that is complete.
        first = _EPOCH - (_EPOCH - self.begin) // step * step
        return [first + step * number for number in range((self.end - first) // step)]


def instant(at: datetime) -> str:
    return f"to_timestamp_micros({(at - _EPOCH) // timedelta(microseconds=1)})"
