"""A topic with the bytes of __consumer_offsets as Spark reads it: committed records alone, and no trace left in the cluster."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import json
from pyspark.sql import DataFrame, SparkSession

from group_coordinator.mirror.arrow_decoder import DECODED, decode_batches

READING = {
    # Spark's usual way to look for offsets leaves internal topics out without a word. This one asks a consumer, and that
    # one is told where read_committed ends.
    "spark.sql.streaming.kafka.useDeprecatedOffsetFetching": "true",
    # Messages are small and many, and are decoded together.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "20000",
    # A group's metadata may have a megabyte.
    "spark.sql.execution.arrow.maxBytesPerBatch": str(16 * 1024 * 1024),
}
"""What the session of the query must have when the query starts."""

_FETCHING = {
    "kafka.isolation.level": "read_committed",
    # Spark drops what a consumer has fetched beyond one poll: let a poll take all of a fetch.
    "kafka.max.poll.records": "50000",
    "kafka.max.partition.fetch.bytes": str(4 * 1024 * 1024),
    # A consumer that waits for more records delays the batch.
    "kafka.fetch.max.wait.ms": "10",
}


def read_messages(
    spark: SparkSession,
    cluster: Mapping[str, str],
    topic: str,
    partitions: Collection[int],
    most_offsets: int,
) -> DataFrame:
    """The topic as a stream of messages, from its beginning; once the checkpoint has begun, from where it stopped.

    Args:
        spark: the session.
        cluster: Spark's options for the address of the cluster and the login (cluster_options.py).
        topic: its name.
        partitions: those that it has.
        most_offsets: a batch takes no more; 0: as many as there are.
    """
    reader = (
        spark.readStream.format("kafka")
        .options(**{**cluster, **_FETCHING})
        # Who subscribes joins a consumer group, whose records would be in the very topic that is read.
        .option("assign", json.encode({topic: sorted(partitions)}).decode())
        .option("startingOffsets", "earliest")
        # Records that are gone unread would leave groups in the tables that are not there any more.
        .option("failOnDataLoss", "true")
    )
    if most_offsets:
        reader = reader.option("maxOffsetsPerTrigger", most_offsets)
    return reader.load().select("key", "value", "partition", "offset", "timestamp")


def decode(messages: DataFrame) -> DataFrame:
    """Messages as rows of DECODED.

    A task takes several partitions of the topic, of which there are 50, but no partition is in two tasks: its rows are
    counted there.
    """
    cores = messages.sparkSession.sparkContext.defaultParallelism
    return messages.coalesce(cores).mapInArrow(decode_batches, DECODED)
