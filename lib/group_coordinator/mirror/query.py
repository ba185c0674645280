"""The mirror's streaming query: until it is stopped, or until it has read all present records.

A lost checkpoint is made again from the log, which has every message that was read, with its source coordinates, in whole batches.
So reading continues behind the last message of each partition in the log. The checkpoint's other knowledge is lost, such as the
time of the last complete read. So the next batch does a gap repair, as after a gap (continuity.py).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Event
from typing import NamedTuple

from pyspark.errors import StreamingQueryException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from group_coordinator.clients.cluster.topics import TopicFacts
from group_coordinator.codecs.records import record_types
from group_coordinator.mirror.admin_source import AdminSinks, AdminSource
from group_coordinator.mirror.continuity import GapRepairs
from group_coordinator.mirror.sinks import MirrorSinks, columns_of
from group_coordinator.mirror.source import READING, MessageSource
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.batch_gate import BatchGate
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.streaming.checkpoint.layout import (
    Origin,
    checkpoint_of,
    has_begun,
    read_origin,
    write_origin,
)
from group_coordinator.streaming.checkpoint.ownership import Claimant, is_lost, take_over
from group_coordinator.streaming.session import in_pool
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.definition import BATCH_ID, CLUSTER_ID
from group_coordinator.tables.failed_events import DEAD_LETTERS
from group_coordinator.tables.maintenance_work import session_conf

QUERY_NAME = "mirror"
_ANOTHER_NAME = "mirror the cluster under another name, by --cluster"
MIRROR = Claimant(
    QUERY_NAME,
    _ANOTHER_NAME,
    "",
    f"Restore the newest copy of the checkpoint, or {_ANOTHER_NAME}",
    f"none of them is from the present topic. Restore the checkpoint, or {_ANOTHER_NAME}",
)
"""The checkpoint of a mirror as owner of its cluster's rows."""
_POLL_S = 1
_log = logging.getLogger(__name__)


class TopicChangedError(RuntimeError):
    """The topic has changed since the query started: the query must be started again."""


class Reading(NamedTuple):
    """The way the topic is read: source and start offsets, and if the query continues after lost records."""

    source: MessageSource | AdminSource
    is_lossy: bool
    topic_id: str | None
    first_batch_id: int
    """Number of Spark's batch 0 in the tables."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorRun:
    """A run of one or more queries; `stop` ends it between two batches, and each of `watches` receives the query meanwhile.

    `take_up` returns how the next query reads the topic. A watch ends a query by TopicChangedError; after a failed query
    `may_go_on` decides if another follows.
    """

    spark: SparkSession
    job: JobSettings
    take_up: Callable[[], Reading]
    may_go_on: Callable[[StreamingQueryException], bool]
    sinks: MirrorSinks | AdminSinks
    stop: Event
    watches: Sequence[Callable[[StreamingQuery], None]] = ()

    def run(self) -> None:
        trigger = {"processingTime": f"{self.job.mirror_interval_ms} milliseconds"}
        while self._must_begin_again(trigger):
            pass

    def drain(self) -> None:
        """Mirror all records that are readable now, up to the first open transaction, and return."""
        while self._must_begin_again({"availableNow": True}):
            pass

    def _must_begin_again(self, trigger: Mapping[str, object]) -> bool:
        try:
            self._until_over(trigger)
        except TopicChangedError as change:
            _log.debug("query=%s again: reason=%s", QUERY_NAME, change)
            return True
        except StreamingQueryException as failure:
            # Kafka's source fails for lost records, which a mirror survives by a gap repair.
            if self.may_go_on(failure):
                _log.debug("query=%s again: reason=topic-changed", QUERY_NAME)
                return True
            raise
        return False

    def _until_over(self, trigger: Mapping[str, object]) -> None:
        reading = self.take_up()
        # A topic that was created again begins with batch 0 of Spark, and the tables continue.
        sinks = replace(
            self.sinks, first_batch_id=reading.first_batch_id, topic_id=reading.topic_id
        )
        # A gate for each query, as a gate stays closed.
        gate = BatchGate(sinks.write)
        query = self._start(reading, gate, trigger)
        try:
            while not self.stop.is_set() and not query.awaitTermination(_POLL_S):
                for watch in self.watches:
                    watch(query)
        finally:
            gate.stop(query, self.spark.sparkContext)

    def _start(
        self, reading: Reading, gate: BatchGate, trigger: Mapping[str, object]
    ) -> StreamingQuery:
        most = self.job.mirror_max_offsets_per_trigger
        folder = CheckpointFolder(self.spark, checkpoint_of(self.job, QUERY_NAME))
        # A query copies the session's settings at its start.
        with in_pool(self.spark, QUERY_NAME), session_conf(self.spark, READING):
            rows = reading.source.stream(self.spark, most, is_lossy=reading.is_lossy)
            writer = (
                rows.writeStream.queryName(QUERY_NAME)
                .foreachBatch(gate)
                .option("checkpointLocation", folder.address_in_full)
            )
            return writer.trigger(**trigger).start()  # type: ignore[call-overload,no-any-return]


_KEY = "data STRUCT<raw: STRING, fault: STRING>"
_VALUE = "data STRUCT<raw: STRING>"


class _Logged(NamedTuple):
    """The cluster's content of the log: its last batch, and by partition of the topic the offset of the last message."""

    last_batch_id: int
    last_offsets: Mapping[int, int]


def make_again_if_lost(
    spark: SparkSession, job: JobSettings, topic: TopicFacts, now_ms: int
) -> None:
    """Rebuild the checkpoint, if there is none and the log has messages of this very topic id. Safe to repeat.

    From here on no other checkpoint writes the cluster's rows: the run of a former owner ends.

    Raises:
        CheckpointError: the checkpoint is not lost but elsewhere, or reads another topic.
    """
    folder = MIRROR.folder(spark, job)
    if has_begun(folder) or read_origin(folder) is not None or not is_lost(spark, job, MIRROR):
        return
    # Rows of another topic id have offsets of a topic that is gone, and say nothing of this topic.
    if not _logged(spark, job, topic.topic_id).last_offsets:
        return
    # Before the log is read: from now on no other process appends to it.
    writer = take_over(spark, job, MIRROR)
    logged = _logged(spark, job, topic.topic_id)
    # A batch of its own, after the last batch, as the marks of the tables only grow.
    letters_id = logged.last_batch_id + 1
    writer.append(_letters_not_written(spark, job, logged.last_batch_id), DEAD_LETTERS, letters_id)
    catalog = TableCatalog(job.tables_root)
    GapRepairs(folder, catalog, job.cluster_id).wish(now_ms, letters_id)
    starts = _starting_offsets(topic, logged.last_offsets)
    # Last, as the checkpoint counts as rebuilt from here on: a crash before it only repeats the rebuild.
    write_origin(folder, Origin(letters_id + 1, starts))
    _log.warning(
        "checkpoint %s is lost: topic %s is read from the offsets after the last offsets in the log, %s, and "
        "the tables are compared with its present records",
        *(folder.location, job.events_topic, starts),
    )


def continue_if_lost(spark: SparkSession, job: JobSettings) -> None:
    """Rebuild the checkpoint of a mirror by polls, if there is none and the log has rows of the cluster: the next poll continues.

    Raises:
        CheckpointError: the checkpoint is not lost but elsewhere, or reads a topic.
    """
    folder = MIRROR.folder(spark, job)
    if has_begun(folder) or read_origin(folder) is not None or not is_lost(spark, job, MIRROR):
        return
    take_over(spark, job, MIRROR)
    last_batch_id = _logged(spark, job, "").last_batch_id
    write_origin(folder, Origin(last_batch_id + 1))
    _log.warning("checkpoint %s is lost: the next poll is compared with the log", folder.location)


def _logged(spark: SparkSession, job: JobSettings, topic_id: str) -> _Logged:
    rows = TableCatalog(job.tables_root).read(spark, COORDINATOR_LOG.name).where(_is_ours(job))
    partition = F.when(F.col("source_topic_id") == topic_id, F.col("source_partition"))
    found = (
        rows.groupBy(partition.alias("partition"))
        .agg(F.max("source_offset").alias("offset"), F.max(BATCH_ID.name).alias("batch_id"))
        .collect()
    )
    offsets = {row.partition: row.offset for row in found if row.partition is not None}
    return _Logged(max((row.batch_id for row in found), default=-1), offsets)


def _starting_offsets(topic: TopicFacts, last_offsets: Mapping[int, int]) -> dict[int, int]:
    # Behind the log's last offsets, or at the topic's first if these are higher; the repair finds the lost records.
    return {
        partition: max(last_offsets[partition] + 1, extent.start)
        for partition, extent in topic.extent.items()
        if partition in last_offsets
    }


def _letters_not_written(spark: SparkSession, job: JobSettings, last_batch_id: int) -> DataFrame:
    # The last batch may have reached only the log.
    catalog = TableCatalog(job.tables_root)
    is_recent = _is_ours(job) & (F.col(BATCH_ID.name) >= last_batch_id)
    place = ["source_topic", "source_partition", "source_offset"]
    there = catalog.read(spark, DEAD_LETTERS.name).where(is_recent).select(*place)
    raw = catalog.read(spark, COORDINATOR_LOG.name).where(
        is_recent & (F.col("record_type") == record_types.RAW_MESSAGE)
    )
    key, value = F.from_json("key", _KEY).data, F.from_json("value", _VALUE).data
    others = {
        "reason": key.fault,
        "key": F.unbase64(key.raw),
        "value": F.unbase64(value.raw),
        "group_id": F.lit(None).cast("string"),
    }
    return columns_of(DEAD_LETTERS, raw.join(there, place, "left_anti"), others)


def _is_ours(job: JobSettings) -> Column:
    return F.col(CLUSTER_ID.name) == job.cluster_id
