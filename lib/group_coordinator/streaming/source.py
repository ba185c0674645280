"""The events topic as the input of the stateful operator: group id and a packed value.

Timers are suspended while a backlog is read: the heartbeat that keeps a member alive may be unread (clock rule 6). The batch's plan
and the limit decide this. Both are written before the batch begins, so a repeated batch decides the same.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping

from msgspec import json
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from group_coordinator.codecs.fields import LONGEST_TEXT
from group_coordinator.runtime.group_call import RETRY_MS
from group_coordinator.runtime.outputs import ABSENT_KEY, BAD_KEY, EVENT, LONG_KEY
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.plans import Plans
from group_coordinator.streaming.cluster_options import cluster_options

PACKED = "group_id STRING, event BINARY"
"""A packed event, or a group's seed (runtime/outputs.py)."""

_ANSWER_MS = 10_000
PATIENCE = {
    # A request for offsets to a dying broker waits for it, though the partition gets another leader within seconds: by
    # default for a minute, in which members' sessions end. Kafka itself treats a silent broker as dead after 9 s.
    "kafka.request.timeout.ms": str(_ANSWER_MS),
    "kafka.default.api.timeout.ms": str(_ANSWER_MS),
    # Each retry makes a new connection. By default 3 of a minute each.
    "fetchOffset.numRetries": "18",
}
"""Options of a source: the timeouts of Kafka's clients. A query that stops waits for the pending response."""

_SHOWN_CHARACTERS = 255
"""Characters kept of a key that is too long for a group id."""


def read_events(
    spark: SparkSession, job: JobSettings, event_max_bytes: int, starting_offsets: Mapping[int, int]
) -> DataFrame:
    """Return the events topic as a stream of packed events from these offsets on, by partition, or from the first event on.

    Once the checkpoint has begun, Spark continues where it stopped.
    """
    reader = (
        spark.readStream.format("kafka")
        .options(**cluster_options(job), **PATIENCE)
        .option("subscribe", job.events_topic)
        .option("startingOffsets", _offsets_of(job.events_topic, starting_offsets) or "earliest")
        # An event that is lost unread would make every later decision of its group wrong: stop instead.
        .option("failOnDataLoss", "true")
        # Kafka sends one response at a time: the task would wait for the end offsets behind a fetch.
        .option("kafka.fetch.max.wait.ms", "1")
    )
    if job.max_offsets_per_trigger:
        reader = reader.option("maxOffsetsPerTrigger", job.max_offsets_per_trigger)
    return pack(reader.load(), event_max_bytes)


def read_last_events(spark: SparkSession, job: JobSettings, present: Mapping[int, range]) -> int:
    """Let tasks read the last event of each partition, of the offsets that the topic has; return their number."""
    last = {
        # An empty partition starts at its end.
        partition: max(offsets.start, offsets.stop - 1)
        for partition, offsets in present.items()
    }
    ends = {partition: offsets.stop for partition, offsets in present.items()}
    reader = spark.read.format("kafka").options(**cluster_options(job))
    records = (
        reader.option("subscribe", job.events_topic)
        .option("startingOffsets", _offsets_of(job.events_topic, last))
        .option("endingOffsets", _offsets_of(job.events_topic, ends))
    )
    return records.load().count()


def _offsets_of(topic: str, offsets: Mapping[int, int]) -> str:
    return json.encode({topic: offsets}).decode() if offsets else ""


def read_groups(spark: SparkSession, folder: str) -> DataFrame:
    """Return the seeds of a rebuilt checkpoint's groups, all in the first batch."""
    return spark.readStream.schema(PACKED).parquet(folder)


def pack(records: DataFrame, event_max_bytes: int) -> DataFrame:
    """Convert Kafka records to `group_id` and `event`; an event that is too long is cut.

    A key that is not UTF-8 would break the exchange with the Python workers: its bytes are replaced and the event is
    marked, so it becomes a dead letter. So does an event whose key is too long; the key is cut.
    """
    return records.select(_group_id().alias("group_id"), _event(event_max_bytes).alias("event"))


def _group_id() -> Column:
    text = F.make_valid_utf8(F.col("key").cast("string"))
    shown = F.when(_is_long(), F.substring(text, 1, _SHOWN_CHARACTERS)).otherwise(text)
    return F.coalesce(shown, F.lit(""))


def _is_long() -> Column:
    return F.octet_length("key") > LONGEST_TEXT


def _event(event_max_bytes: int) -> Column:
    """Pack the event in the layout of outputs.HEADER."""
    kind = (
        F.when(F.col("key").isNull(), ABSENT_KEY)
        .when(_is_long(), LONG_KEY)
        .when(~F.is_valid_utf8(F.col("key").cast("string")), BAD_KEY)
        .otherwise(EVENT)
    )
    # In SQL, as a Python worker before the operator would take longer than Spark's own reading.
    header = F.concat(
        _big_endian(F.col("partition"), 4),
        _big_endian(F.col("offset"), 8),
        _big_endian(F.unix_millis("timestamp"), 8),
        _big_endian(kind, 1),
        _big_endian(F.coalesce(F.octet_length("value"), F.lit(-1)), 4),
    )
    beginning = F.coalesce(F.substring("value", 1, event_max_bytes), F.lit(b""))
    return F.concat(F.unhex(header), beginning)


def _big_endian(number: Column, size: int) -> Column:
    # Hexadecimal, as under ANSI rules no cast does this. A negative number has sixteen digits.
    return F.lpad(F.hex(number), 2 * size, "0")


TIMERS_SUSPENDED = "group.coordinator.timers.hold"
"""Name of a local property of the driver's thread. Spark copies it to the tasks that the thread starts."""


_log = logging.getLogger(__name__)


def is_cut(plans: Plans, batch_id: int, limit: int) -> bool:
    """Return True if a batch may have left events unread, by its plan. `limit` is max.offsets.per.trigger; 0: no limit."""
    return bool(limit) and may_be_cut([len(taken) for _, taken in plans.ranges_of(batch_id)], limit)


def may_be_cut(taken: Collection[int], limit: int) -> bool:
    """Return True if a limit, of at least 1, may have left events unread. `taken` has the number of events of each partition.

    Spark divides the limit among the partitions that have events, in proportion to their events. A share is rounded down, but is at
    least one event: below `lowest_limit`, a batch of one event per partition counts as cut.
    """
    shares = sum(1 for count in taken if count)
    # Each rounding loses less than one event, so a cut batch has at least the limit minus one event per partition.
    return shares > 0 and sum(taken) >= limit - shares


def lowest_limit(partitions: int) -> int:
    """Return the lowest limit with which a batch of one event per partition does not count as cut."""
    return 2 * partitions + 1


class Backlog:
    """Suspends timers for the batches that the limit cut short. `limit` is max.offsets.per.trigger; 0: no limit."""

    def __init__(self, spark: SparkSession, plans: Plans, limit: int) -> None:
        self._spark = spark
        self._plans = plans
        self._limit = limit
        self.retries_end_ms = 0
        """A batch after this time has fired every suspended timer."""

    def begin(self, batch_id: int) -> None:
        """Tell the tasks of this batch, by Spark's number, if timers are suspended. The calling thread starts them next."""
        holds = is_cut(self._plans, batch_id, self._limit)
        self._spark.sparkContext.setLocalProperty(TIMERS_SUSPENDED, "true" if holds else "")
        # Suspended timers are retried after RETRY_MS, counted from the time of the batch that suspended them.
        plan = self._plans.of(batch_id)
        _log.debug("spark_batch=%d timers_suspended=%s limit=%d", batch_id, holds, self._limit)
        if holds and plan is not None:
            self.retries_end_ms = plan.at_ms + RETRY_MS
