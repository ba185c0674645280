"""The coordinator's streaming query: its parts, and its progress."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from group_coordinator.runtime.update_group import UpdateContext
from group_coordinator.settings import Settings
from group_coordinator.streaming.checkpoint.layout import (
    PARTITIONS,
    QUERY_NAME,
    Origin,
    coordinator_folder,
    folder_of_groups,
)
from group_coordinator.streaming.checkpoint.plans import TextOfPlan
from group_coordinator.streaming.operator.worker_function import coordinate
from group_coordinator.streaming.operator.worker_process import folder_for_spills
from group_coordinator.streaming.rebuild.rebuild import check_seeds
from group_coordinator.streaming.session import started_in_pool
from group_coordinator.streaming.source import read_events, read_groups

_OF_THE_QUERY = {
    # Code generation for its plans takes a batch longer than it saves, in large batches too.
    "spark.sql.codegen.wholeStage": "false",
    # Timers fire without events too. Users with many queries may have switched this off for those.
    "spark.sql.streaming.noDataMicroBatches.enabled": "true",
}


def start_query(
    spark: SparkSession,
    settings: Settings,
    origin: Origin | None,
    write: Callable[[DataFrame, int], None],
) -> StreamingQuery:
    """Start to handle events; `write` receives the outputs of every batch (batch_writer.py).

    Raises DamagedFileError: the groups of a rebuilt checkpoint are incomplete.
    """
    job = settings.job
    context = UpdateContext(
        settings.coordinator,
        job.events_topic,
        job.timer_slack_ms,
        timers_hold=False,
        asks_for_topics=job.topic_metadata_interval_ms > 0,
        follows_markers=job.transactions_markers_interval_ms > 0,
        reports_rebalancing=bool(job.metrics_listen),
        checks_acls=job.acls_source != "none",
        scratch=folder_for_spills,
    )
    calls = coordinate(_input(spark, settings, origin), context, job.exchange)
    writer = (
        calls.writeStream.queryName(QUERY_NAME)
        .foreachBatch(write)
        .option("checkpointLocation", coordinator_folder(spark, job).address_in_full)
        .trigger(processingTime=f"{job.trigger_interval_ms} milliseconds")
    )
    # Only a new checkpoint reads it: Spark keeps the number of the first batch.
    rebuilt = {PARTITIONS: str(origin.partitions)} if origin and origin.partitions else {}
    return started_in_pool(writer, spark, QUERY_NAME, _OF_THE_QUERY | rebuilt)


def _input(spark: SparkSession, settings: Settings, origin: Origin | None) -> DataFrame:
    # A query keeps its sources for the life of its checkpoint, so a rebuilt checkpoint always has the seeds too.
    job, event_max_bytes = settings.job, settings.coordinator.event_max_bytes
    if origin is None:
        return read_events(spark, job, event_max_bytes, {})
    folder = coordinator_folder(spark, job)
    check_seeds(spark, folder, origin)
    # Kafka must be the first source: `has_read` looks there.
    groups = read_groups(spark, folder_of_groups(folder))
    return read_events(spark, job, event_max_bytes, origin.starting_offsets).union(groups)


def plans_in_memory(spark: SparkSession, query: StreamingQuery) -> TextOfPlan:
    """Return the reader of a running query's offset log, which has its last entries in memory."""
    session: Any = spark
    in_java: Any = query
    log = in_java._jsq.streamingQuery().offsetLog()  # noqa: SLF001 - PySpark has no public way
    new_stream = session._jvm.java.io.ByteArrayOutputStream  # noqa: SLF001

    def text(batch_id: int) -> str | None:
        try:
            found = log.get(batch_id)
        except Py4JJavaError:
            # It is not in memory and its file is damaged. The reader of the file reports that.
            return None
        if not found.isDefined():
            return None
        written = new_stream()
        log.serialize(found.get(), written)
        return str(written.toString("UTF-8"))

    return text


def has_ended_batch(query: StreamingQuery, batch_id: int) -> bool:
    """Return True if this batch, by Spark's number, is committed."""
    progress = query.lastProgress
    return progress is not None and progress.batchId >= batch_id


def has_begun_batch_after(query: StreamingQuery, time_ms: int) -> bool:
    """Return True if a batch that began later than this time is committed."""
    progress = query.lastProgress
    time = None if progress is None else datetime.fromisoformat(progress.timestamp)
    return time is not None and time.timestamp() * 1000 > time_ms


def has_read(query: StreamingQuery, events_topic: str, ends: Mapping[int, int]) -> bool:
    """Return True if a committed batch has read the events topic up to these offsets, by partition."""
    progress = query.lastProgress
    if progress is None:
        return False
    # Spark's Python classes give offsets as Python's repr; only the JSON is machine-readable.
    sources = json.loads(progress.json)["sources"]
    read = (sources[0]["endOffset"] or {}).get(events_topic, {}) if sources else {}
    return all(read.get(str(partition), 0) >= end for partition, end in ends.items())
