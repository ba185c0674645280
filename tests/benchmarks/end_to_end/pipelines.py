"""What is measured: the job, its operator alone, and two pipelines of Spark's own; each from the same topic.

Spark's own pipeline has neither Python nor state. It takes an event's fields by from_json, answers each commit and writes a
row of the log for it, of the same size as the job's: to the same topic with the same settings, and to the same table in the way in
which the job would append rows of Spark's. The other one differs in how it writes: as the documentation of Spark and Delta says.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeAlias

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from group_coordinator.runtime.update_group import UpdateContext
from group_coordinator.settings import JobSettings, Settings
from group_coordinator.streaming.batch_writer import Sinks, send
from group_coordinator.streaming.cluster_options import cluster_options
from group_coordinator.streaming.coordinator_query import start_query
from group_coordinator.streaming.operator.worker_function import coordinate
from group_coordinator.streaming.small_batch import BatchCounts
from group_coordinator.streaming.source import read_events
from group_coordinator.tables.append import Size, SparkRows
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.definition import BATCH_ID, INGESTED_AT
from group_coordinator.tables.writer import Writer

Start: TypeAlias = Callable[[SparkSession, Settings], StreamingQuery]

_RECORD_BYTES = 400
"""About what the job's own line of a commit has: whether the driver may hold a batch depends on it."""
_EVENT = """
api STRING, version INT, correlationId STRING, clientId STRING, clientHost STRING, principal STRING,
body STRUCT<groupId: STRING, generationIdOrMemberEpoch: INT, memberId: STRING, topics: ARRAY<STRUCT<
  name: STRING, partitions: ARRAY<STRUCT<
    partitionIndex: INT, committedOffset: BIGINT, committedLeaderEpoch: INT, committedMetadata: STRING>>>>>
"""


def start_job(spark: SparkSession, settings: Settings) -> StreamingQuery:
    """The job's query, as its command starts it; what runs beside it does not."""
    return start_query(spark, settings, None, _sinks(settings).write)


def start_operator(spark: SparkSession, settings: Settings) -> StreamingQuery:
    """The stateful operator with the job's source; its output is thrown away."""
    job, coordinator = settings.job, settings.coordinator
    context = UpdateContext(
        coordinator,
        job.events_topic,
        job.timer_slack_ms,
        timers_suspended=False,
        asks_for_topics=True,
    )
    events = read_events(spark, job, coordinator.event_max_bytes, {})
    return _started(coordinate(events, context, job.exchange), settings, "noop")


def start_stock_pipeline(spark: SparkSession, settings: Settings) -> StreamingQuery:
    """Spark's own functions between the job's source and its sinks."""
    outputs = _outputs(_records(spark, settings.job), settings)
    return _started(outputs, settings, partial(_write, settings))


def start_documented_pipeline(spark: SparkSession, settings: Settings) -> StreamingQuery:
    """The same, and what comes of it is written as the documentation of Spark and of Delta says."""
    outputs = _outputs(_records(spark, settings.job), settings)
    return _started(outputs, settings, partial(_write_as_documented, settings))


def _records(spark: SparkSession, job: JobSettings) -> DataFrame:
    return (
        spark.readStream.format("kafka")
        .options(**cluster_options(job))
        .option("subscribe", job.events_topic)
        .option("startingOffsets", "earliest")
        .option("kafka.fetch.max.wait.ms", "1")
        .option("maxOffsetsPerTrigger", job.max_offsets_per_trigger)
        .load()
    )


def _started(
    outputs: DataFrame, settings: Settings, sink: str | Callable[[DataFrame, int], object]
) -> StreamingQuery:
    writer = outputs.writeStream.option(
        "checkpointLocation", str(Path(settings.job.checkpoint_location) / "query")
    ).trigger(processingTime="0 seconds")
    if isinstance(sink, str):
        return writer.format(sink).start()
    return writer.foreachBatch(sink).start()


def _sinks(settings: Settings) -> Sinks:
    return Sinks(job=settings.job, writer=_writer(settings), report=_check)


def _writer(settings: Settings) -> Writer:
    return Writer(TableCatalog(settings.job.tables_root), settings.job.cluster_id, epoch=1)


def _check(_batch_id: int, counts: BatchCounts) -> None:
    assert counts.responses == counts.records, f"not a response and a record an event: {counts}"


def _write(settings: Settings, batch: DataFrame, batch_id: int) -> None:
    """What the job does with a batch, to the same topic and table."""
    batch.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        send(batch.select("key", "value"), settings.job)
        [row] = batch.selectExpr("count(value) AS responses", "count(record) AS records").collect()
        _check(batch_id, BatchCounts(row.responses, row.records))
        rows = SparkRows(batch.select("record.*"), Size(row.records, row.records * _RECORD_BYTES))
        _writer(settings).append_once(rows, COORDINATOR_LOG, batch_id)
    finally:
        batch.unpersist()


def _write_as_documented(settings: Settings, batch: DataFrame, batch_id: int) -> None:
    """To two places by foreachBatch, to the table once by Delta's own mark; gzip at the level that Kafka's clients begin with."""
    batch.persist()
    try:
        kafka = {
            **cluster_options(settings.job),
            "kafka.compression.type": "gzip",
            "topic": settings.job.responses_topic,
        }
        batch.select("key", "value").write.format("kafka").options(**kafka).save()
        rows = batch.select(
            "record.*",
            F.lit(batch_id).cast(BATCH_ID.dataType).alias(BATCH_ID.name),
            F.now().alias(INGESTED_AT.name),
        )
        marks = {"txnAppId": "documented", "txnVersion": batch_id}
        writer = rows.write.format("delta").mode("append").options(**marks)
        TableCatalog(settings.job.tables_root).save(writer, COORDINATOR_LOG.name)
    finally:
        batch.unpersist()


def _outputs(records: DataFrame, settings: Settings) -> DataFrame:
    """A response and a row of the log for each event, beside each other."""
    event, committed = F.col("event"), F.col("committed")
    parsed = records.select(
        "partition",
        "offset",
        "timestamp",
        F.from_json(F.col("value").cast("string"), _EVENT).alias("event"),
    )
    topic = F.element_at("event.body.topics", 1)
    return (
        parsed.withColumn("topic", topic)
        .withColumn("committed", F.element_at("topic.partitions", 1))
        .select(
            F.col("event.body.groupId").alias("key"),
            F.to_json(_response(event)).alias("value"),
            _record(event, committed, settings).alias("record"),
        )
    )


def _response(event: Column) -> Column:
    answered = F.transform(
        event["body"]["topics"],
        lambda topic: F.struct(
            topic["name"].alias("name"),
            F.transform(
                topic["partitions"],
                lambda each: F.struct(
                    each["partitionIndex"].alias("partitionIndex"), F.lit(0).alias("errorCode")
                ),
            ).alias("partitions"),
        ),
    )
    return F.struct(
        F.format_string("group-events-%d-%d", "partition", "offset").alias("id"),
        event["correlationId"].alias("correlationId"),
        event["api"].alias("api"),
        event["version"].alias("version"),
        event["body"]["groupId"].alias("groupId"),
        F.unix_millis("timestamp").alias("at"),
        F.struct(F.lit(0).alias("throttleTimeMs"), answered.alias("topics")).alias("body"),
    )


def _record(event: Column, committed: Column, settings: Settings) -> Column:
    group, topic = event["body"]["groupId"], F.col("topic.name")
    at_ms = F.unix_millis("timestamp")
    key = F.struct(
        F.lit(1).alias("version"),
        group.alias("group"),
        topic.alias("topic"),
        committed["partitionIndex"].alias("partition"),
    )
    value = F.struct(
        F.lit(3).alias("version"),
        committed["committedOffset"].alias("offset"),
        committed["committedLeaderEpoch"].alias("leaderEpoch"),
        F.coalesce(committed["committedMetadata"], F.lit("")).alias("metadata"),
        at_ms.alias("commitTimestamp"),
    )
    found = {
        "cluster_id": F.lit(settings.job.cluster_id),
        "group_id": group,
        "record_type": F.lit(1),
        "key": F.to_json(key),
        "value": F.to_json(value),
        "topic": topic,
        "partition": committed["partitionIndex"],
        "offset": committed["committedOffset"],
        "reason": F.lit("commit"),
        "principal": event["principal"],
        "event_time": F.col("timestamp"),
        "source_topic": F.lit(settings.job.events_topic),
        "source_partition": F.col("partition"),
        "source_offset": F.col("offset"),
        "seq": F.lit(0),
    }
    return F.struct(
        *(
            found.get(field.name, F.lit(None)).cast(field.dataType).alias(field.name)
            for field in COORDINATOR_LOG.schema
            if field.name not in (BATCH_ID.name, INGESTED_AT.name)
        )
    )
