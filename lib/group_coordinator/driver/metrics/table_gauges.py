"""Gauges from the tables, read from time to time: groups and offsets under Kafka's names, lag under kafka_exporter's.

Source: GroupCoordinatorMetrics in Kafka 4.4, with the names that the JMX exporter's usual configurations make. An
unknown value has no series: neither -1 nor NaN. A removed group has none any more.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from string import Template
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from prometheus_client.metrics_core import Metric
from pyspark.sql import SparkSession

from group_coordinator.clients import sql_tables
from group_coordinator.clients.query_results import without_views
from group_coordinator.core.model.classic_member import ClassicState, ConsumerState
from group_coordinator.driver.metrics.meters import KAFKAS
from group_coordinator.driver.session import Point, figure, gauge, text_of
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.session import in_pool
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.creation import TABLES, create_temporary_views
from group_coordinator.tables.definition import quoted
from group_coordinator.tables.views.definition import DATAFUSION, SPARK, Dialect, in_datafusion

_MANAGER = "kafka_coordinator_group_groupmetadatamanager"
_CLASSIC = "classic"
_STATES = {
    _CLASSIC: tuple(state.value for state in ClassicState),
    "consumer": tuple(state.value for state in ConsumerState),
    "share": ("Empty", "Stable", "Dead"),
    "streams": ("Empty", "NotReady", "Assigning", "Reconciling", "Stable", "Dead"),
}
"""States by group type. Only a mirrored cluster has groups of the last two types."""


def group_families(groups: pa.Table, rebalancing: Mapping[str, str]) -> Iterator[Metric]:
    """Yield the gauges of the existing groups: group_id, group_type, state and offset_count of each.

    `rebalancing` has by group id the state of the classic groups between two generations, which the log does not have.
    """
    counts = _counted(groups, rebalancing)
    by_type = [((kind,), sum(counts[kind, state] for state in _STATES[kind])) for kind in _STATES]
    yield gauge(f"{KAFKAS}_group_count", "Groups by type", ("protocol",), by_type)
    for kind, states in _STATES.items():
        points = [((state,), counts[kind, state]) for state in states]
        meaning = f"Groups of type {kind} by state"
        yield gauge(f"{KAFKAS}_{kind}_group_count", meaning, ("state",), points)
    offsets = pc.sum(groups["offset_count"]).as_py() or 0
    yield figure(f"{KAFKAS}_offset_count", "Committed offsets", offsets)
    yield figure(f"{_MANAGER}_numoffsets", "Committed offsets", offsets)
    yield figure(f"{_MANAGER}_numgroups", "Classic groups", by_type[0][1])
    for state in _STATES[_CLASSIC]:
        name = f"{_MANAGER}_numgroups{state.lower()}"
        yield figure(name, f"Classic groups that are {state}", counts[_CLASSIC, state])


def _counted(groups: pa.Table, rebalancing: Mapping[str, str]) -> Counter[tuple[str, str]]:
    counts = _by_type_and_state(groups)
    if not rebalancing:
        return counts
    named = pc.is_in(groups["group_id"], pa.array([*rebalancing], groups["group_id"].type))
    logged = groups.filter(named)
    is_classic = pc.equal(logged["group_type"], _CLASSIC)
    # A classic group may have been upgraded since.
    others = {*logged.filter(pc.invert(is_classic))["group_id"].to_pylist()}
    counts -= _by_type_and_state(logged.filter(is_classic))
    # The operator reports states between two generations, for which the log has no record.
    counts.update((_CLASSIC, state) for group, state in rebalancing.items() if group not in others)
    return counts


def _by_type_and_state(groups: pa.Table) -> Counter[tuple[str, str]]:
    kinds = groups.group_by(["group_type", "state"]).aggregate([([], "count_all")])
    rows: list[dict[str, Any]] = kinds.to_pylist()
    return Counter({(row["group_type"], row["state"]): row["count_all"] for row in rows})


_GROUP, _TOPIC, _PARTITION = "consumergroup", "topic", "partition"
LABELS: Mapping[str, Sequence[str]] = {
    "group": (_GROUP,),
    "topic": (_GROUP, _TOPIC),
    "partition": (_GROUP, _TOPIC, _PARTITION),
}
"""Labels by granularity, metrics.lag.granularity, of the finest series."""
_SUMS = (
    ("current_offset", "committed_offset", "Committed offset"),
    ("lag", "lag", "Records left to read up to the end of the log, as of the last sample"),
    ("lost", "lost", "Records removed from the log before the group read them"),
)

Row = Mapping[str, Any]


def lag_families(groups: pa.Table, lag: pa.Table, granularity: str) -> Iterator[Metric]:
    """Yield the gauges of lag and offsets.

    `groups` has group_id and member_count; `lag` has group_id, topic, partition, committed_offset, lag and lost of the committed
    offsets, and the sampled offsets; `granularity` is metrics.lag.granularity.
    """
    if granularity not in LABELS:
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
    yield _used_up(rows, granularity)
    if granularity == "partition":
        yield from _topics(rows)


def _committed(
    name: str, column: str, meaning: str, rows: Sequence[Row], granularity: str
) -> Iterator[Metric]:
    if granularity == "partition":
        points = ((_values(row, granularity), row[column]) for row in rows)
        yield gauge(f"kafka_consumergroup_{name}", meaning, LABELS[granularity], points)
    coarse = coarse_of(granularity)
    sums: Counter[Sequence[str]] = Counter()
    for row in rows:
        sums[_values(row, coarse)] += row[column]
    meaning = f"{meaning}, of all partitions of a {coarse}"
    yield gauge(f"kafka_consumergroup_{name}_sum", meaning, LABELS[coarse], sums.items())


def _used_up(rows: Iterable[Row], granularity: str) -> Metric:
    coarse = coarse_of(granularity)
    highest: dict[Sequence[str], float] = defaultdict(float)
    for row in rows:
        # A log without records has no share.
        if row["lag"] is not None and row["log_end_offset"] > row["log_start_offset"]:
            share = row["lag"] / (row["log_end_offset"] - row["log_start_offset"])
            highest[_values(row, coarse)] = max(highest[_values(row, coarse)], share)
    meaning = f"Unread share of the log, 0 to 1, the highest of all partitions of a {coarse}: at 1 the next removed record is lost"
    return gauge("kafka_consumergroup_used_up_max", meaning, LABELS[coarse], highest.items())


def coarse_of(granularity: str) -> str:
    """Return the granularity of sums and extremes."""
    return "topic" if granularity == "partition" else granularity


def _values(row: Row, granularity: str) -> tuple[str, ...]:
    values = row["group_id"], row["topic"], str(row["partition"])
    return values[: len(LABELS[granularity])]


def _topics(rows: Iterable[Row]) -> Iterator[Metric]:
    ends: dict[str, list[Point]] = defaultdict(list)
    # Several groups read the same partition, which must have only one series.
    seen: dict[tuple[str, str], Row] = {(row["topic"], str(row["partition"])): row for row in rows}
    for place, row in seen.items():
        for name, column in (("current", "log_end_offset"), ("oldest", "log_start_offset")):
            if row[column] is not None:
                ends[name].append((place, row[column]))
    for name, points in ends.items():
        meaning = f"The {name} offset of the log, as of the last sample"
        full_name = f"kafka_topic_partition_{name}_offset"
        yield gauge(full_name, meaning, (_TOPIC, _PARTITION), points)


def owner_families(owners: pa.Table) -> Iterator[Metric]:
    """Yield the labels of groups, as a series of value 1 to join with, and their objectives: columns of group_owners."""
    rows = owners.to_pylist()
    yield gauge(
        "kafka_consumergroup_labels",
        "Owner and tier of the group, from group_labels; always 1",
        (_GROUP, "owner", "tier"),
        (((row["group_id"], row["owner"] or "", row["tier"] or ""), 1) for row in rows),
    )
    objectives = (((row["group_id"],), row["objective_seconds"]) for row in rows)
    yield gauge(
        "kafka_consumergroup_objective_seconds",
        "The longest lag in time that the owner wants, from group_labels",
        (_GROUP,),
        ((group, seconds) for group, seconds in objectives if seconds is not None),
    )


Ask = Callable[[str], pa.Table]
"""Runs a query of tables and views, by their plain names, in which `$own` is the condition for the rows of the job's own cluster.

Functions of the dialect are as in the text of a ViewDefinition.
"""

_GROUPS = "SELECT group_id, group_type, state, member_count, offset_count FROM groups WHERE $own"
_LAG = (
    "SELECT group_id, topic, `partition`, committed_offset, lag, lost, log_start_offset, log_end_offset, sampled_at "
    "FROM lag WHERE $own"
)
_OWNERS = "SELECT group_id, owner, tier, objective_seconds FROM group_owners WHERE $own"


class TableGauges:
    """Gauges from the tables: one thread reads them, another shows the last result. `rebalancing` is as in group_families."""

    def __init__(
        self, ask: Ask, granularity: str, rebalancing: Callable[[], Mapping[str, str]]
    ) -> None:
        self._ask = ask
        self._granularity = granularity
        self._rebalancing = rebalancing
        self._read_s: float | None = None
        self._sampled_at: datetime | None = None
        self._text = b""

    def read(self) -> None:
        """Read now. After an error, which is raised, the last gauges stay, and their age grows."""
        groups = self._ask(_GROUPS)
        lag = None if self._granularity == "none" else self._ask(_LAG)
        families = [*self._of(groups, lag)]
        # Only lag has series to join with.
        if lag is not None:
            families += owner_families(self._ask(_OWNERS))
        # The text is a tenth of the objects, and a scrape must not wait until it is made.
        self._text = text_of(families)
        self._sampled_at = None if lag is None else pc.max(lag["sampled_at"]).as_py()
        self._read_s = time.monotonic()

    def text(self) -> bytes:
        """Return the last gauges in Prometheus' text format."""
        return self._text

    def families(self) -> Iterable[Metric]:
        """Yield the ages of the last gauges."""
        if self._read_s is not None:
            age_s = time.monotonic() - self._read_s
            meaning = "Time since the tables were read for the gauges of groups"
            yield figure("group_coordinator_tables_age_seconds", meaning, age_s)
        if self._sampled_at is not None:
            age_s = time.time_ns() / 1e9 - self._sampled_at.timestamp()
            meaning = "Time since the sample of the topics' ends that lag is computed from"
            yield figure("group_coordinator_positions_age_seconds", meaning, age_s)

    def _of(self, groups: pa.Table, lag: pa.Table | None) -> Iterator[Metric]:
        yield from group_families(groups, self._rebalancing())
        if lag is not None:
            yield from lag_families(groups, lag, self._granularity)


def table_asker(spark: SparkSession, job: JobSettings) -> Ask:
    """Return the reader of the tables, without Spark if possible: Spark is busy with members' requests."""
    catalog = TableCatalog(job.tables_root)
    if catalog.direct_root is not None:
        own = f"cluster_id = {in_datafusion(job.cluster_id)}"
        return lambda query: without_views(
            sql_tables.query(job.tables_root, _filled(query, own, DATAFUSION))
        )
    # A session of its own avoids conflicts of names.
    apart = spark.newSession()

    def ask(query: str) -> pa.Table:
        text = _filled(query, f"cluster_id = {quoted(job.cluster_id)}", SPARK)
        with in_pool(spark, "metrics"):
            names = [table.name for table in TABLES if catalog.exists(apart, table.name)]
            for name in names:
                catalog.read(apart, name).createOrReplaceTempView(name)
            create_temporary_views(apart, names, query)
            return apart.sql(text).toArrow()

    return ask


def _filled(query: str, own: str, dialect: Dialect) -> str:
    return Template(query).substitute(dialect._asdict(), own=own)
