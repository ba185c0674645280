"""Writes the year's tables, day by day, as the job appends to them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import Transaction, write_deltalake

from group_coordinator import settings
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.compaction import compaction
from group_coordinator.tables.compaction.rows import ENTRY_COLUMNS, GroupKey, Retention
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.creation import TABLES
from group_coordinator.tables.samples import TOPIC_POSITIONS
from group_coordinator.tables.thinning import DAY_MS, HistoryRule, ThinningLimits, cut_now, midnight
from tests.benchmarks.year.cluster import CLUSTER_ID, GROUPS_A_TOPIC, PARTITIONS, Cluster
from tests.benchmarks.year.commits import HOUR_MS, commits_of_day, kept, offsets_at
from tests.benchmarks.year.commits import rows as commit_rows
from tests.benchmarks.year.lives import SCHEMA, Lives

RULE = HistoryRule(full_ms=7 * DAY_MS, hourly_ms=30 * DAY_MS)
SAMPLE_EVERY_MS = 30_000
BATCH_MS = 10_000


class Year:
    """Days up to now; `a_day` commits of each partition."""

    def __init__(self, cluster: Cluster, days: int, a_day: int, now_ms: int) -> None:
        self.cluster = cluster
        self.now_ms = now_ms
        self._a_day = a_day
        self._random = np.random.default_rng(15)
        self._lives = Lives(cluster, self._random)
        cut = cut_now(RULE, 0, now_ms)
        assert cut is not None
        self._cut: ThinningLimits = cut
        self._days = [midnight(now_ms) - DAY_MS * (days - 1 - number) for number in range(days)]
        self.commits = 0

    def write(self, root: Path, say: Callable[[str], None]) -> None:
        """All tables under a folder."""
        for table in TABLES:
            table.create_on_disk(root / table.name)
        newest: list[pa.Table] = []
        for number, begin_ms in enumerate(self._days):
            newest = [*newest[-1:], self._day(number, begin_ms)]
            write_deltalake(root / COORDINATOR_LOG.name, newest[-1], mode="append")
            self._samples(root, begin_ms)
            if number % 30 == 0:
                say(f"day {number} of {len(self._days)}")
        self._compact(root, pa.concat_tables(newest))

    def _day(self, number: int, begin_ms: int) -> pa.Table:
        every = commits_of_day(self.cluster, begin_ms, self._a_day, self._random)
        is_past = every.at_ms < self.now_ms
        transactional = (every.group > 0) & (every.group <= self.cluster.transactional)
        ordinary = every.where(is_past & ~transactional)
        self.commits += len(ordinary.group)
        parts = [
            commit_rows(self.cluster, kept(ordinary, self._cut)),
            self._lives.day(number, begin_ms),
        ]
        day = pa.concat_tables([part.select(SCHEMA.names).cast(SCHEMA) for part in parts])
        return _with_batches(day.filter(pc.less(day["at_ms"], self.now_ms)))

    def _samples(self, root: Path, begin_ms: int) -> None:
        """Every sample, or the first one of each hour."""
        every_ms = HOUR_MS if begin_ms < self._cut.hourly_ms else SAMPLE_EVERY_MS
        times = np.arange(begin_ms, min(begin_ms + DAY_MS, self.now_ms), every_ms)
        topics = np.arange(self.cluster.topics)
        of_all = len(topics) * PARTITIONS
        at_ms = np.repeat(times, of_all)
        topic = np.tile(np.repeat(topics, PARTITIONS), len(times))
        end = offsets_at(topic * GROUPS_A_TOPIC, at_ms) + 50
        names = pa.array([self.cluster.topic(number * GROUPS_A_TOPIC) for number in topics])
        samples = pa.table(
            {
                "cluster_id": pa.repeat(CLUSTER_ID, len(at_ms)),
                "topic": names.take(pa.array(topic)),
                "partition": pa.array(
                    np.tile(np.arange(PARTITIONS), len(times) * len(topics)), pa.int32()
                ),
                "log_start_offset": pa.array(np.maximum(end - 7 * 86_400 * (1 + topic % 10), 0)),
                "log_end_offset": pa.array(end),
                "last_stable_offset": pa.array(end),
                "sampled_at": _instants(at_ms),
            }
        )
        write_deltalake(
            root / TOPIC_POSITIONS.name,
            samples.cast(TOPIC_POSITIONS.no_rows().schema),
            mode="append",
        )

    def _compact(self, root: Path, newest: pa.Table) -> None:
        """Two days have all that is so now; the last one alone has little yet soon after midnight."""
        config = settings.load().coordinator
        retention = Retention(config.retention_ms, config.offsets_retention_check_interval_ms)
        log = newest.select([*GroupKey._fields, *ENTRY_COLUMNS])
        compaction.compact(
            TableCatalog(str(root)), CLUSTER_ID, log, retention, Transaction("year", 0)
        )


def _with_batches(day: pa.Table) -> pa.Table:
    """In the order of time, with batches of ten seconds, and a group's records of a batch counted."""
    at_ms, group = (day[name].to_numpy() for name in ("at_ms", "group_number"))
    batch = at_ms // BATCH_MS
    order = np.lexsort((at_ms, group, batch))
    begins = np.flatnonzero(
        np.insert((np.diff(group[order]) != 0) | (np.diff(batch[order]) != 0), 0, values=True)
    )
    lengths = np.diff(np.append(begins, len(order)))
    seq = np.arange(len(order)) - np.repeat(begins, lengths)
    day, at_ms = day.take(pa.array(order)), at_ms[order]
    whole = {
        **{name: day[name] for name in SCHEMA.names},
        "cluster_id": pa.repeat(CLUSTER_ID, len(day)),
        "member_id": pa.nulls(len(day), pa.string()),
        "event_time": _instants(at_ms),
        "source_topic": pa.repeat("group-events", len(day)),
        "source_partition": pa.array(group[order] % 4, pa.int32()),
        "source_offset": pa.array(at_ms),
        "batch_id": pa.array(batch[order]),
        "seq": pa.array(seq, pa.int32()),
        "ingested_at": _instants(at_ms),
        "inferred": pa.nulls(len(day), pa.bool_()),
        "source_topic_id": pa.nulls(len(day), pa.string()),
    }
    wanted = COORDINATOR_LOG.no_rows().schema
    return pa.table({name: whole[name] for name in wanted.names}).cast(wanted)


def _instants(at_ms: np.ndarray) -> pa.Array:
    return pa.array(at_ms * 1_000).cast(pa.timestamp("us", "UTC"))
