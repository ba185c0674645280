"""Spark's Kafka source for internal topics, which Spark's own leaves out without a word.

Spark asks an Admin client for offsets, which needs no consumer group, and reads the partitions that the client finds, but for those of
internal topics. `useDeprecatedOffsetFetching` asks a consumer instead. That one has a group: it needs a right on the group, and waits for
ever where the group has no coordinator.

So there is a subclass of the source here that takes the partitions of `assign` as they are given. Spark's classes have no place
for such a rule, and py4j cannot make a subclass: Janino compiles it in the driver, as it compiles Spark's plans. Executors get
offsets, and know nothing of the class. `@Override` fails on a Spark whose methods have other names, instead of reading nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.sql import SparkSession

from group_coordinator.streaming.cluster_options import kafka_package

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
    """The format of a source with `assign`, for readers whose `load` is in the block."""
    session: Any = spark
    jvm = session._jvm  # noqa: SLF001 - PySpark has no public way
    thread = jvm.java.lang.Thread.currentThread()
    usual = thread.getContextClassLoader()
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(usual)
    compiler.cook(_JAVA)
    # Spark looks for a format by the loader of the thread that asks.
    thread.setContextClassLoader(compiler.getClassLoader())
    try:
        yield _CLASS
    finally:
        thread.setContextClassLoader(usual)
