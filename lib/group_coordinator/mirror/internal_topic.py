"""A Kafka source of Spark that reads internal topics, which Spark's own source silently leaves out.

Spark fetches offsets with an Admin client, which needs no consumer group, and drops the partitions of internal topics.
`useDeprecatedOffsetFetching` uses a consumer instead. A consumer needs a right on its group, and waits for ever if the group has no
coordinator.

This subclass of the source uses the partitions of `assign` unchanged. Spark has no option for that, and py4j cannot subclass: Janino,
which compiles Spark's plans, compiles the class in the driver. Executors get offsets, and never the class. `@Override` makes the
compilation fail on a Spark whose methods have other names.
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
