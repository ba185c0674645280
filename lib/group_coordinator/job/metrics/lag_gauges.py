"""Lag, in the dialect of kafka_exporter, which most dashboards speak.

Where nothing is known there is no series: neither -1 nor NaN. A group that is gone has none any more.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
from prometheus_client.metrics_core import Metric

from group_coordinator.job.metrics.families import Point, gauge

_GROUP, _TOPIC, _PARTITION = "consumergroup", "topic", "partition"
_LABELS: Mapping[str, Sequence[str]] = {
    "group": (_GROUP,),
    "topic": (_GROUP, _TOPIC),
    "partition": (_GROUP, _TOPIC, _PARTITION),
}
"""By granularity, of the finest series."""
_SUMS = (
    ("current_offset", "committed_offset", "Committed offset"),
    ("lag", "lag", "Records between it and the end of the log, as sampled last"),
)

Row = Mapping[str, Any]


def lag_families(groups: pa.Table, lag: pa.Table, granularity: str) -> Iterator[Metric]:
    """Gauges of each group.

    Args:
        groups: group_id and member_count.
        lag: group_id, topic, partition, committed_offset, lag of the committed ones, and what was sampled.
        granularity: metrics.lag.granularity.
    """
    if granularity not in _LABELS:
        return
    members = ((row["group_id"],) for row in groups.select(["group_id"]).to_pylist())
    numbers = groups["member_count"].to_pylist()
    yield gauge(
        "kafka_consumergroup_members",
        "Members of the group",
        (_GROUP,),
        zip(members, numbers, strict=True),
    )
    rows = lag.to_pylist()
    for name, column, meaning in _SUMS:
        known = [row for row in rows if row[column] is not None]
        yield from _committed(name, column, meaning, known, granularity)
    if granularity == "partition":
        yield from _topics(rows)


def _committed(
    name: str, column: str, meaning: str, rows: Sequence[Row], granularity: str
) -> Iterator[Metric]:
    if granularity == "partition":
        points = ((_values(row, granularity), row[column]) for row in rows)
        yield gauge(f"kafka_consumergroup_{name}", meaning, _LABELS[granularity], points)
    coarse = "topic" if granularity == "partition" else granularity
    sums: Counter[Sequence[str]] = Counter()
    for row in rows:
        sums[_values(row, coarse)] += row[column]
    meaning = f"{meaning}, of all partitions of a {coarse}"
    yield gauge(f"kafka_consumergroup_{name}_sum", meaning, _LABELS[coarse], sums.items())


def _values(row: Row, granularity: str) -> tuple[str, ...]:
    values = row["group_id"], row["topic"], str(row["partition"])
    return values[: len(_LABELS[granularity])]


def _topics(rows: Iterable[Row]) -> Iterator[Metric]:
    """Of the topics that groups have to do with."""
    ends: dict[str, list[Point]] = defaultdict(list)
    seen: dict[tuple[str, str], Row] = {(row["topic"], str(row["partition"])): row for row in rows}
    for place, row in seen.items():
        for name, column in (("current", "log_end_offset"), ("oldest", "log_start_offset")):
            if row[column] is not None:
                ends[name].append((place, row[column]))
    for name, points in ends.items():
        meaning = f"The {name} offset of the log, as sampled last"
        full_name = f"kafka_topic_partition_{name}_offset"
        yield gauge(full_name, meaning, (_TOPIC, _PARTITION), points)
