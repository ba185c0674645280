"""The figures that are read from the tables now and then, by whatever reads them where they are."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc
from prometheus_client.metrics_core import Metric
from pyspark.sql import SparkSession

from group_coordinator.clients import sql_tables
from group_coordinator.clients.plain_arrow import without_views
from group_coordinator.job.metrics.families import gauge
from group_coordinator.job.metrics.group_gauges import group_families
from group_coordinator.job.metrics.lag_gauges import lag_families
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.pools import in_pool
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.creation import TABLES, create_temporary_views
from group_coordinator.tables.definition import quoted
from group_coordinator.tables.quoting import in_datafusion

Ask = Callable[[str], pa.Table]
"""Answers a SELECT from one table or view, by its plain name, with the rows of the job's own cluster."""

_GROUPS = "SELECT group_id, group_type, state, member_count, offset_count FROM groups"
_LAG = "SELECT group_id, topic, `partition`, committed_offset, lag, log_start_offset, log_end_offset, sampled_at FROM lag"


class TableFigures:
    """Reads in one thread, and shows in another what was read last.

    Args:
        ask: asks the tables.
        granularity: metrics.lag.granularity.
        rebalancing: which classic groups rebalance now.
    """

    def __init__(
        self, ask: Ask, granularity: str, rebalancing: Callable[[], Mapping[str, str]]
    ) -> None:
        self._ask = ask
        self._granularity = granularity
        self._rebalancing = rebalancing
        self._read_s: float | None = None
        self._sampled_at: datetime | None = None
        self._families: Sequence[Metric] = ()

    def read(self) -> None:
        """Read now; what cannot be read, which is raised, stays as it was, and grows old."""
        groups = self._ask(_GROUPS)
        lag = None if self._granularity == "none" else self._ask(_LAG)
        self._families = [*self._of(groups, lag)]
        self._sampled_at = None if lag is None else pc.max(lag["sampled_at"]).as_py()
        self._read_s = time.monotonic()

    def families(self) -> Iterable[Metric]:
        """What was read last, and how long ago."""
        yield from self._families
        if self._read_s is not None:
            age_s = time.monotonic() - self._read_s
            meaning = "Since the tables were read for the gauges of groups"
            yield gauge("group_coordinator_tables_age_seconds", meaning, (), [((), age_s)])
        if self._sampled_at is not None:
            age_s = time.time_ns() / 1e9 - self._sampled_at.timestamp()
            meaning = "Since the topics' ends were sampled, which lag is counted to"
            yield gauge("group_coordinator_positions_age_seconds", meaning, (), [((), age_s)])

    def _of(self, groups: pa.Table, lag: pa.Table | None) -> Iterator[Metric]:
        yield from group_families(groups, self._rebalancing())
        if lag is not None:
            yield from lag_families(groups, lag, self._granularity)


def table_asker(spark: SparkSession, job: JobSettings) -> Ask:
    """Without Spark where that is possible: it has members to serve."""
    catalog = TableCatalog(job.tables_root)
    if catalog.direct_root is not None:
        own = f"WHERE cluster_id = {in_datafusion(job.cluster_id)}"
        return lambda select: without_views(sql_tables.query(job.tables_root, f"{select} {own}"))
    # Names of a session of its own are in nobody's way.
    apart = spark.newSession()

    def ask(select: str) -> pa.Table:
        with in_pool(spark, "metrics"):
            names = [table.name for table in TABLES if catalog.exists(apart, table.name)]
            for name in names:
                catalog.read(apart, name).createOrReplaceTempView(name)
            create_temporary_views(apart, names, select)
            return apart.sql(f"{select} WHERE cluster_id = {quoted(job.cluster_id)}").toArrow()

    return ask
