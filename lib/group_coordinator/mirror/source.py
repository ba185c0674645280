"""The mirrored topic as Spark reads it: internal topics too, which Spark's own source leaves out, and committed records alone.

Spark fetches offsets with an Admin client, which needs no consumer group, and drops the partitions of internal topics.
`useDeprecatedOffsetFetching` uses a consumer instead. A consumer needs a right on its group, and waits for ever if the group has no
coordinator.

This subclass of the source uses the partitions of `assign` unchanged. Spark has no option for that, and py4j cannot subclass: Janino,
which compiles Spark's plans, compiles the class in the driver. Executors get offsets, and never the class. `@Override` makes the
compilation fail on a Spark whose methods have other names.
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
from group_coordinator.mirror.home_partition import HomePartitions
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
"""What the session of the query must have when the query starts."""

_FETCHING = {
    "kafka.isolation.level": "read_committed",
    # A poll takes a whole fetch, or what is left of it is fetched again. Spark keeps what a consumer has polled last, and has
    # one for each partition of the topic, of which there are 50: all that together is in the executors' memory.
    "kafka.max.poll.records": "10000",
    "kafka.max.partition.fetch.bytes": str(1024 * 1024),
    # A consumer that waits for more records delays the batch.
    "kafka.fetch.max.wait.ms": "10",
}


_EARLIEST = -2
"""What Spark calls the beginning of a partition."""
_COLUMNS = ("key", "value", "partition", "offset", "timestamp")


@dataclass(frozen=True, slots=True)
class MessageSource:
    """A topic to read.

    `cluster` has Spark's options for address and login (cluster_options.py), `partitions` are those that the topic has, `homes`
    tells where its groups are; without it they may be anywhere. `starts` are the first offsets that are read; of a partition that
    is not in it, all.
    """

    cluster: Mapping[str, str]
    topic: str
    partitions: Collection[int]
    homes: HomePartitions | None = None
    starts: Mapping[int, int] = field(default_factory=dict)

    def stream(self, spark: SparkSession, most_offsets: int, *, is_lossy: bool) -> DataFrame:
        """As `messages`, and decoded: rows of DECODED."""
        return self._decoded(self.messages(spark, most_offsets, is_lossy=is_lossy))

    def messages(self, spark: SparkSession, most_offsets: int, *, is_lossy: bool) -> DataFrame:
        """A stream from `starts` on; once the checkpoint has begun, from where it stopped.

        Args:
            spark: the session.
            most_offsets: a batch takes no more; 0: as many as there are.
            is_lossy: whether records that are gone unread are passed over. Groups in the tables may then be gone as well.
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
        """Rows of DECODED of all that can be read now; the session must have READING."""
        with internal_topics(spark) as source:
            records = spark.read.format(source).options(**self._options()).load()
        return self._decoded(records.select(*_COLUMNS))

    def _starting_offsets(self) -> str:
        starts = {each: self.starts.get(each, _EARLIEST) for each in sorted(self.partitions)}
        return json.encode({self.topic: starts}).decode()

    def _options(self) -> dict[str, str]:
        # Who subscribes joins a consumer group, whose records would be in the very topic that is read.
        assigned = json.encode({self.topic: sorted(self.partitions)}).decode()
        return {**PATIENCE, **self.cluster, **_FETCHING, "assign": assigned}

    def _decoded(self, messages: DataFrame) -> DataFrame:
        """A task takes several partitions, of which there are 50, but none is in two tasks: its rows are counted there."""
        cores = messages.sparkSession.sparkContext.defaultParallelism
        decoder = partial(decode_batches, homes=self.homes)
        return messages.coalesce(cores).mapInArrow(decoder, DECODED)
