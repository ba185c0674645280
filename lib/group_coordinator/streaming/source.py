"""The events topic as the stateful operator wants it: the group and one packed value."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from group_coordinator.settings import JobSettings
from group_coordinator.streaming.cluster_options import cluster_options

_ABSENT_KEY, _BAD_KEY = 1, 2


def read_events(spark: SparkSession, job: JobSettings) -> DataFrame:
    """The events topic from its beginning, as a stream of packed events."""
    reader = (
        spark.readStream.format("kafka")
        .options(**cluster_options(job))
        .option("subscribe", job.events_topic)
        .option("startingOffsets", "earliest")
        # An event that is gone unread would make every later decision of its group wrong: stop instead.
        .option("failOnDataLoss", "true")
        # A consumer that waits for more than there is holds up the next batch: Kafka sends one answer at a time.
        .option("kafka.fetch.max.wait.ms", "10")
    )
    if job.max_offsets_per_trigger:
        reader = reader.option("maxOffsetsPerTrigger", job.max_offsets_per_trigger)
    return pack(reader.load())


def pack(records: DataFrame) -> DataFrame:
    """Kafka records as `group_id` and `event`.

    A key that is no text would break the exchange with the Python workers: its bytes are replaced and the fault is
    flagged, so that the event ends as a dead letter.
    """
    return records.select(_group_id().alias("group_id"), _event().alias("event"))


def _group_id() -> Column:
    return F.coalesce(F.make_valid_utf8(F.col("key").cast("string")), F.lit(""))


def _event() -> Column:
    """The layout is packing.HEADER's."""
    fault = (
        F.when(F.col("key").isNull(), _ABSENT_KEY)
        .when(~F.is_valid_utf8(F.col("key").cast("string")), _BAD_KEY)
        .otherwise(0)
    )
    header = F.concat(
        _big_endian(F.col("partition"), 4),
        _big_endian(F.col("offset"), 8),
        _big_endian(F.unix_millis("timestamp"), 8),
        _big_endian(fault, 1),
        _big_endian(F.col("value").isNotNull().cast("int"), 1),
    )
    no_bytes = F.lit(b"")
    return F.concat(F.unhex(header), F.coalesce("value", no_bytes))


def _big_endian(number: Column, size: int) -> Column:
    """Hexadecimal digits; no cast does this under ANSI rules. Negative numbers have sixteen digits, and need them."""
    return F.lpad(F.hex(number), 2 * size, "0")
