"""Spark source of the mirrored topic: with internal topics, which Spark's own source omits, and only committed records.

Spark fetches offsets with an Admin client, and drops the partitions of internal topics. `useDeprecatedOffsetFetching` uses a consumer
instead, which needs a right on its group, and waits forever if the group has no coordinator.

This subclass of the source uses the partitions of `assign` unchanged. py4j cannot subclass: Janino, the compiler of Spark's plans,
compiles the class in the driver. Executors get offsets, and never the class. `@Override` makes the compilation fail on a Spark
whose methods have other names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from msgspec import json
from pyspark.sql import DataFrame, SparkSession

from group_coordinator.mirror.arrow_decoder import DECODED, decode_batches
from group_coordinator.mirror.commit_columns import HomePartitions
from group_coordinator.streaming.cluster_options import kafka_package
from group_coordinator.streaming.source import PATIENCE

_CLASS = "group_coordinator.AssignedAsTheyAre"
_STRATEGY = "org$apache$spark$sql$kafka010$KafkaSourceProvider$$strategy"
_JAVA = f"""
package group_coordinator;

import {kafka_package()}clients.admin.Admin;
import {kafka_package()}common.TopicPartition;
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap;
import org.apache.spark.sql.kafka010.AssignStrategy;
import org.apache.spark.sql.kafka010.ConsumerStrategy;
import org.apache.spark.sql.kafka010.KafkaSourceProvider;

public class AssignedAsTheyAre extends KafkaSourceProvider {{
    @Override
    public ConsumerStrategy {_STRATEGY}(CaseInsensitiveMap options) {{
        return new Assigned(((AssignStrategy) super.{_STRATEGY}(options)).partitions());
    }}

    public static class Assigned extends AssignStrategy {{
        public Assigned(TopicPartition[] partitions) {{
            super(partitions);
        }}

        @Override
        public scala.collection.immutable.Set assignedTopicPartitions(Admin admin) {{
            return scala.Predef$.MODULE$.wrapRefArray(partitions()).toSet();
        }}
    }}
}}
"""


@contextmanager
def internal_topics(spark: SparkSession) -> Iterator[str]:
    """Yield the format of a source with `assign`; call `load` inside the block."""
    session: Any = spark
    jvm = session._jvm  # noqa: SLF001 - PySpark has no public way
    thread = jvm.java.lang.Thread.currentThread()
    usual = thread.getContextClassLoader()
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(usual)
    compiler.cook(_JAVA)
    # Spark looks up a format in the class loader of the calling thread.
    thread.setContextClassLoader(compiler.getClassLoader())
    try:
        yield _CLASS
    finally:
        thread.setContextClassLoader(usual)


READING = {
    # Messages are small and many, and are decoded together.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "20000",
    # A group's metadata may have a megabyte.
    "spark.sql.execution.arrow.maxBytesPerBatch": str(16 * 1024 * 1024),
}
"""Settings that the query's session must have when the query starts."""

_FETCHING = {
    "kafka.isolation.level": "read_committed",
    # A poll must take a whole fetch, or the rest of it is fetched again. Spark keeps the last poll of each consumer,
    # and has a consumer for each of the topic's 50 partitions: all of that is in the executors' memory.
    "kafka.max.poll.records": "10000",
    "kafka.max.partition.fetch.bytes": str(1024 * 1024),
    # A consumer that waits for more records delays the batch.
    "kafka.fetch.max.wait.ms": "10",
}


_EARLIEST = -2
"""Spark's number for the beginning of a partition."""
_COLUMNS = ("key", "value", "partition", "offset", "timestamp")


@dataclass(frozen=True, slots=True)
class MessageSource:
    """A topic to read, with Spark's options for address and login; `homes` maps groups to partitions, if known.

    `starts` are the first offsets to read; partitions that are missing in it are read completely.
    """

    cluster: Mapping[str, str]
    topic: str
    partitions: Collection[int]
    homes: HomePartitions | None = None
    starts: Mapping[int, int] = field(default_factory=dict)

    def stream(self, spark: SparkSession, most_offsets: int, *, is_lossy: bool) -> DataFrame:
        return self._decoded(self.messages(spark, most_offsets, is_lossy=is_lossy))

    def messages(self, spark: SparkSession, most_offsets: int, *, is_lossy: bool) -> DataFrame:
        """Return a stream from `starts` on; once the checkpoint has begun, from its last offsets.

        `most_offsets` limits a batch, 0: no limit; a lossy stream skips lost records, whose groups may be outdated in the tables.
        """
        reader = (
            spark.readStream.options(**self._options())
            .option("startingOffsets", self._starting_offsets())
            .option("failOnDataLoss", "false" if is_lossy else "true")
        )
        if most_offsets:
            reader = reader.option("maxOffsetsPerTrigger", most_offsets)
        with internal_topics(spark) as source:
            return reader.format(source).load().select(*_COLUMNS)

    def present(self, spark: SparkSession) -> DataFrame:
        """Return rows of DECODED for all readable records; the session must have READING."""
        with internal_topics(spark) as source:
            records = spark.read.format(source).options(**self._options()).load()
        return self._decoded(records.select(*_COLUMNS))

    def _starting_offsets(self) -> str:
        starts = {each: self.starts.get(each, _EARLIEST) for each in sorted(self.partitions)}
        return json.encode({self.topic: starts}).decode()

    def _options(self) -> dict[str, str]:
        # A subscriber would join a consumer group, whose records would be in the very topic that is read.
        assigned = json.encode({self.topic: sorted(self.partitions)}).decode()
        return {**PATIENCE, **self.cluster, **_FETCHING, "assign": assigned}

    def _decoded(self, messages: DataFrame) -> DataFrame:
        # A task takes several of the 50 partitions, but no partition is in two tasks, which count its rows.
        cores = messages.sparkSession.sparkContext.defaultParallelism
        decoder = partial(decode_batches, homes=self.homes)
        return messages.coalesce(cores).mapInArrow(decoder, DECODED)
