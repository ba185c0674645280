"""Gauges from the views that cost more than lag: status, lag in time, risks, rebalances and objectives.

Each view is read by itself: one that fails or takes minutes changes the gauges of no other view.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import Event
from typing import NamedTuple

from prometheus_client.metrics_core import Metric

from group_coordinator.background import MOST_OF_THE_TIME, RateLimit, repeat
from group_coordinator.driver.metrics.table_gauges import LABELS, Ask, Row, coarse_of
from group_coordinator.driver.session import Point, gauge, text_of
from group_coordinator.tables.views.group_status import FROM_BAD_TO_GOOD, RANK
from group_coordinator.tables.views.rebalances import REBALANCES

_COLUMNS = {
    "group": "group_id",
    "topic": "group_id, topic",
    "partition": "group_id, topic, `partition`",
}
"""Columns by granularity, in the order of LABELS."""
_NAMES = ("group_id", "topic", "partition")


def _values(row: Row, granularity: str) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in _NAMES[: len(LABELS[granularity])])


def _extremes(
    name: str, meaning: str, rows: Sequence[Row], granularity: str, extreme: Callable[..., float]
) -> Iterator[Metric]:
    """Yield a gauge of each partition, if the granularity has them, and of the extreme of a group or topic.

    The column is the name without its prefix. The name of the extreme ends with that of its function.
    """
    column = name.removeprefix("kafka_consumergroup_")
    known = [row for row in rows if row[column] is not None]
    if granularity == "partition":
        points = ((_values(row, granularity), row[column]) for row in known)
        yield gauge(name, meaning, LABELS[granularity], points)
    coarse = coarse_of(granularity)
    found: dict[tuple[str, ...], float] = {}
    for row in known:
        values = _values(row, coarse)
        found[values] = extreme(found.get(values, row[column]), row[column])
    meaning = f"{meaning}, the {extreme.__name__} of all partitions of a {coarse}"
    yield gauge(f"{name}_{extreme.__name__}", meaning, LABELS[coarse], found.items())


def status_families(rows: Sequence[Row], granularity: str) -> Iterator[Metric]:
    """Yield status and lag in time. `rows` has `rank`, the place of the status in FROM_BAD_TO_GOOD, and lag_seconds."""
    meaning = "Seconds for which there has been something to read, as of the last sample"
    yield from _extremes("kafka_consumergroup_lag_seconds", meaning, rows, granularity, max)
    known = [row for row in rows if row["rank"] is not None]
    worst: dict[str, int] = {}
    for row in known:
        worst[row["group_id"]] = min(worst.get(row["group_id"], row["rank"]), row["rank"])
    # A label is read by people, and keeps its meaning when a release adds a status; a number would not.
    yield gauge(
        "kafka_consumergroup_status",
        "The worst status of the group's partitions, as a label; always 1",
        (*LABELS["group"], "status"),
        (((group, FROM_BAD_TO_GOOD[rank]), 1) for group, rank in worst.items()),
    )
    if granularity == "partition":
        yield gauge(
            "kafka_consumergroup_partition_status",
            "The status of the partition, as a label; always 1",
            (*LABELS[granularity], "status"),
            (((*_values(row, granularity), FROM_BAD_TO_GOOD[row["rank"]]), 1) for row in known),
        )


def risk_families(rows: Sequence[Row], granularity: str) -> Iterator[Metric]:
    meaning = (
        "Seconds until retention removes the next unread record, at the pace of the last hours"
    )
    yield from _extremes("kafka_consumergroup_seconds_to_loss", meaning, rows, granularity, min)


def expiring_families(rows: Sequence[Row], granularity: str) -> Iterator[Metric]:
    coarse = coarse_of(granularity)
    yield gauge(
        "kafka_consumergroup_expiring_offsets",
        f"Committed offsets of a {coarse} that expire within a day, unless they are committed again",
        LABELS[coarse],
        ((_values(row, coarse), row["number"]) for row in rows),
    )


def _of_groups(name: str, meaning: str) -> Callable[[Sequence[Row], str], Iterator[Metric]]:
    def families(rows: Sequence[Row], _granularity: str) -> Iterator[Metric]:
        points: Iterator[Point] = (((row["group_id"],), row["number"]) for row in rows)
        yield gauge(name, meaning, LABELS["group"], points)

    return families


class _View(NamedTuple):
    """A view's query, by granularity, the gauges of its rows, and the largest share of the time for reading it."""

    query: Callable[[str], str]
    families: Callable[[Sequence[Row], str], Iterator[Metric]]
    share: float = MOST_OF_THE_TIME / 5


def _status_query(granularity: str) -> str:
    columns = _COLUMNS[granularity]
    return (
        f"SELECT {columns}, min({RANK}) AS rank, max(lag_seconds) AS lag_seconds "  # noqa: S608 - texts of our own
        f"FROM partition_status WHERE $own GROUP BY {columns}"
    )


def _risk_query(granularity: str) -> str:
    columns = _COLUMNS[granularity]
    return (
        f"SELECT {columns}, min(seconds_to_loss) AS seconds_to_loss "  # noqa: S608 - texts of our own
        f"FROM at_risk WHERE $own GROUP BY {columns}"
    )


def _expiring_query(granularity: str) -> str:
    columns = _COLUMNS[coarse_of(granularity)]
    return (
        f"SELECT {columns}, count(*) AS number FROM expiring_soon "  # noqa: S608 - texts of our own
        f"WHERE $own AND expires_at < now() + INTERVAL '1' DAY GROUP BY {columns}"
    )


# The view of a year's log would sort all rows first. A day has the number before of nearly every group that rebalances, so that a
# record with that number again, of a static member that was replaced, is no rebalance.
_REBALANCES = f"""
WITH recent_log AS (SELECT * FROM coordinator_log WHERE $own AND event_time >= now() - INTERVAL '1' DAY)
SELECT group_id, count(*) AS number
FROM ({REBALANCES.text.replace("$coordinator_log", "recent_log")}) recent
WHERE coalesce(started_at, ended_at) >= now() - INTERVAL '1' HOUR
GROUP BY group_id
"""  # noqa: S608 - texts of our own

# Only the beginning of today is less than a day ago.
_OBJECTIVES = (
    "SELECT group_id, met AS number FROM objectives WHERE $own AND `day` > now() - INTERVAL '1' DAY"
)

_VIEWS: Mapping[str, _View] = {
    # Consumers are scaled by lag in time. The other figures are of hours and days.
    "partition_status": _View(_status_query, status_families, MOST_OF_THE_TIME),
    "at_risk": _View(_risk_query, risk_families),
    "expiring_soon": _View(_expiring_query, expiring_families),
    "rebalances": _View(
        lambda _: _REBALANCES,
        _of_groups(
            "kafka_consumergroup_rebalances_last_hour", "Rebalances that began within the last hour"
        ),
    ),
    "objectives": _View(
        lambda _: _OBJECTIVES,
        _of_groups(
            "kafka_consumergroup_objective_met_ratio",
            "The share of today's sampled minutes, in UTC, in which the group's lag in time was within its objective, 0 to 1",
        ),
    ),
}
_log = logging.getLogger(__name__)


class ViewGauges:
    """Gauges from the views: one thread reads them, another shows the last result of each. Granularity none has none."""

    def __init__(self, ask: Ask, granularity: str) -> None:
        views = _VIEWS if granularity in LABELS else {}
        self._readings = [_Reading(name, ask, granularity) for name in views]

    def read_repeatedly(self, interval_s: float, ended: Event) -> None:
        """Read each view at the interval, or less often if that takes long, until `ended` is set."""
        repeat(lambda: self.read(ended), ended, interval_s, first_s=0)

    def read(self, ended: Event) -> None:
        """Read the views that are due, and no further one when `ended` is set. A view's failure is logged."""
        for reading in self._readings:
            if not ended.is_set():
                reading.read_if_due()

    def text(self) -> bytes:
        """Return the last gauges in Prometheus' text format."""
        return b"".join(reading.text for reading in self._readings)

    def families(self) -> Iterator[Metric]:
        """Yield the ages of the last gauges."""
        now_s = time.monotonic()
        yield gauge(
            "group_coordinator_view_age_seconds",
            "Time since the view was read for gauges",
            ("view",),
            (((r.view,), now_s - r.read_s) for r in self._readings if r.read_s is not None),
        )


class _Reading:
    """The last gauges of a view."""

    def __init__(self, view: str, ask: Ask, granularity: str) -> None:
        self.view = view
        self.text = b""
        self.read_s: float | None = None
        self._ask = ask
        self._granularity = granularity
        self._limit = RateLimit(time.monotonic, _VIEWS[view].share)
        self._reported = ""

    def read_if_due(self) -> None:
        if not self._limit.is_due:
            return
        with self._limit.working():
            try:
                self._read()
                self._reported = ""
            except Exception as failure:  # noqa: BLE001 - other views must go on
                self._report(str(failure))

    def _read(self) -> None:
        view = _VIEWS[self.view]
        rows = self._ask(view.query(self._granularity)).to_pylist()
        self.text = text_of(view.families(rows, self._granularity))
        self.read_s = time.monotonic()

    def _report(self, failure: str) -> None:
        # Equal failures in a row are logged once.
        if failure != self._reported:
            _log.warning("the metrics of the view %s are not complete: %s", self.view, failure)
        self._reported = failure
