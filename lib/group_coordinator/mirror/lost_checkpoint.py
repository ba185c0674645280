"""Rebuild of a mirror's lost checkpoint from the log, which has every message that was read, with its source coordinates.

The log has only whole batches of a topic's messages, since a table takes a batch in a single commit. So reading continues
behind the last message of each partition in the log: control records and aborted records, which have no rows, are
skipped again. The checkpoint's other knowledge is lost, such as the time of the last complete read. So the next batch
does a gap repair, as after a gap (continuity.py).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import NamedTuple

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from group_coordinator.clients.cluster.topics import TopicFacts
from group_coordinator.codecs.records import record_types
from group_coordinator.mirror.lookback import Lookback
from group_coordinator.mirror.query import MIRROR
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.layout import (
    Origin,
    has_begun,
    read_origin,
    write_origin,
)
from group_coordinator.streaming.checkpoint.ownership import is_lost, take_over
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.dead_letters import DEAD_LETTERS
from group_coordinator.tables.definition import BATCH_ID, CLUSTER_ID, INGESTED_AT

_KEY = "data STRUCT<raw: STRING, fault: STRING>"
_VALUE = "data STRUCT<raw: STRING>"
_log = logging.getLogger(__name__)


class _Logged(NamedTuple):
    """The cluster's content of the log: its last batch, and by partition of the topic the offset of the last message."""

    last_batch_id: int
    last_offsets: Mapping[int, int]


def make_again_if_lost(
    spark: SparkSession, job: JobSettings, topic: TopicFacts, now_ms: int
) -> None:
    """Rebuild the checkpoint, if there is none and the log has messages of this very topic. Safe to repeat.

    From here on no other checkpoint writes the cluster's rows: the run of a former owner ends.

    Args:
        spark: the session.
        job: where tables and checkpoint are, and the name of the topic.
        topic: the present topic. A topic that was created again has not been read: nothing is done then.
        now_ms: the time.

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
    Lookback(folder, catalog, job.cluster_id).wish(now_ms, letters_id)
    starts = _starting_offsets(topic, logged.last_offsets)
    # Last, as the checkpoint counts as rebuilt from here on: a crash before it only repeats the rebuild.
    write_origin(folder, Origin(letters_id + 1, starts))
    _log.warning(
        "checkpoint %s is lost: topic %s is read from the offsets after the last offsets in the log, %s, and "
        "the tables are compared with its present records",
        *(folder.location, job.events_topic, starts),
    )


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
    by_batch = {BATCH_ID.name, INGESTED_AT.name}
    names = [name for name in DEAD_LETTERS.schema.names if name not in by_batch]
    return raw.join(there, place, "left_anti").select(
        *(others.get(name, F.col(name)).alias(name) for name in names)
    )


def _is_ours(job: JobSettings) -> Column:
    return F.col(CLUSTER_ID.name) == job.cluster_id
