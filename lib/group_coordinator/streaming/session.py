"""The Spark session of the job: created on this machine, or provided where the job is submitted.

With spark.scheduler.mode = FAIR, queries in different pools take turns, and no others.
"""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Any

import javaproperties
import pyspark
from py4j.java_gateway import JavaClass
from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.layout import PARTITIONS, STATE_STORE
from group_coordinator.streaming.checkpoint.object_store import rename_plainly, use_s3
from group_coordinator.streaming.cluster_options import DATABRICKS
from group_coordinator.streaming.spark_lines import UnknownSparkError, newer_than
from group_coordinator.tables.maintenance_work import session_conf

LOG4J2 = resources.files("group_coordinator.observability") / "log4j2.properties"
"""The levels of a JVM that the job starts."""


def quieten_jvm(spark: SparkSession) -> None:
    """Apply the levels of LOG4J2 to a JVM that was started with its own configuration."""
    settings = javaproperties.loads(LOG4J2.read_text(encoding="utf-8"))
    spark.sparkContext.setLogLevel(settings["rootLogger.level"].upper())
    session: Any = spark
    log4j = session._jvm.org.apache.logging.log4j  # noqa: SLF001 - PySpark has no public way
    for key, name in settings.items():
        if key.startswith("logger.") and key.endswith(".name"):
            level = settings[key.removesuffix(".name") + ".level"]
            log4j.core.config.Configurator.setLevel(name, log4j.Level.toLevel(level))


# Requirements in addition to Spark -> a class of each. Databricks includes both, and renames some classes.
_NEEDED = {
    "Kafka connector (spark-sql-kafka-0-10)": "org.apache.spark.sql.kafka010.KafkaSourceProvider",
    "Delta (delta-spark)": "io.delta.sql.DeltaSparkSessionExtension",
}

_log = logging.getLogger(__name__)


def warn_of_newer(version: str, jvm: Any) -> None:
    """Log a warning if the job is untested on this version of PySpark; `jvm` is py4j's view of the driver's.

    Raises UnknownSparkError: it is newer, and has no Kafka or no Delta; or it is older than all tested versions.
    """
    newest = newer_than(version)
    if newest is None:
        return
    newer = f"PySpark {version} is newer than {newest}, the newest that the job is tested with"
    missing = [] if DATABRICKS in os.environ else _missing(jvm)
    if missing:
        raise UnknownSparkError(
            f"{newer}, and it has no {' and no '.join(missing)}: submit the job with the jars of this version "
            f"(jobs/README.md), or use PySpark {newest}"
        )
    _log.warning("%s: the job starts, but its state, checkpoints and tables are not tested", newer)


def _missing(jvm: Any) -> list[str]:
    return [name for name, of in _NEEDED.items() if not isinstance(getattr(jvm, of), JavaClass)]


_STATE_STORES = "org.apache.spark.sql.execution.streaming.state"
_ROCKSDB = "spark.sql.streaming.stateStore.rocksdb"
_PROVIDERS = {
    "rocksdb": f"{_STATE_STORES}.RocksDBStateStoreProvider",
    "hdfs": f"{_STATE_STORES}.HDFSBackedStateStoreProvider",
}

_CATALOG = "spark.sql.catalog.spark_catalog"
_EXTENSIONS, _DELTA = "spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension"

_EVERYWHERE = {
    "spark.sql.session.timeZone": "UTC",
    # An event may have a megabyte, and all rows that a worker gets at once are outside the heap, in every running task.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "250",
    # Only the causes of a failure distinguish failures of Kafka, of the disk and of our code (driver/error_causes.py).
    "spark.sql.pyspark.jvmStacktrace.enabled": "true",
    # Spark starts Python workers by -m, which would import modules from the current folder first, whoever wrote them.
    "spark.executorEnv.PYTHONSAFEPATH": "1",
    # A second attempt that runs at the same time would send responses twice.
    "spark.speculation": "false",
    # Without it every batch uploads whole SST files.
    f"{_ROCKSDB}.changelogCheckpointing.enabled": "true",
    # A snapshot flushes another small SST file, and Spark 4.2 uploads files again in each snapshot once they are a hundred versions
    # old, even if an idle job has not changed them. By default there is a snapshot every 10 versions.
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": "100",
    f"{_ROCKSDB}.boundedMemoryUsage": "true",
    # The sources of our MERGEs are already computed; by default Delta would compute them again.
    "spark.databricks.delta.merge.materializeSource": "none",
    # A table is partitioned by cluster: otherwise one task would write all changes of a cluster's MERGE.
    "spark.databricks.delta.merge.repartitionBeforeWrite.enabled": "false",
    # Tables are small: one task reads the state of a Delta log, not fifty.
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
    # A writer keeps 128 MB by default, and checks its size after up to 10,000 rows, which may have a megabyte each.
    "spark.hadoop.parquet.block.size": str(32 * 1024 * 1024),
    "spark.hadoop.parquet.block.size.row.check.min": "16",
    "spark.hadoop.parquet.block.size.row.check.max": "16",
    "spark.hadoop.parquet.page.size.check.estimate": "false",
    "spark.hadoop.parquet.page.size.row.check.min": "4",
    # Java's serialization keeps a hundred pieces of a cached batch by default, which may have four megabytes each.
    "spark.serializer.objectStreamReset": "4",
    # A cached batch is read once or twice, and compression of its columns takes a tenth of a mirror's first load.
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
    # Spark collects the data of its UI even without a UI; a batch has several jobs, and there are many batches.
    "spark.ui.retainedJobs": "50",
    "spark.ui.retainedStages": "50",
    "spark.ui.retainedTasks": "500",
    "spark.sql.ui.retainedExecutions": "20",
    # Spark stores each query's plan for the UI, formatted by default: 7 % of the query's thread.
    "spark.sql.ui.explainMode": "simple",
    # As many tasks as state partitions: nothing to adapt, and small queries take half the time.
    "spark.sql.adaptive.enabled": "false",
    # A query of partition_status has 276 classes of generated code. By default 100 are kept.
    "spark.sql.codegen.cache.maxEntries": "1000",
    # Batches of the coordinator and of compaction take turns (`POOLS`), instead of waiting for each other.
    "spark.scheduler.mode": "FAIR",
}

_TASKS_A_CORE = 2
# As on a cluster: a Python worker that dies costs its task, not the job.
_TASK_ATTEMPTS = 4

_ON_THIS_MACHINE = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1536m",
    # Other users of the machine reach its ports too. Spark makes the secret itself.
    "spark.authenticate": "true",
    "spark.network.crypto.enabled": "true",
    "spark.network.crypto.authEngineVersion": "2",
    "spark.network.crypto.saslFallback": "false",
    "spark.io.encryption.enabled": "true",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def local_session(job: JobSettings, jars: Iterable[Path], scratch: Path) -> SparkSession:
    """Create a session on this machine: driver and workers in a single JVM, on all cores, with jars in addition to pyspark's.

    `scratch` is for the temporary files of Java and Python workers, and for Spark's blocks unless spark.local.dir is set.
    """
    # Otherwise the workers would run the first `python3` in PATH.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    usual = tempfile.tempdir
    tempfile.tempdir = str(scratch)  # PySpark and its JVM find each other by a temporary file
    try:
        spark = _session({**_EVERYWHERE, **_on_this_machine(job, jars, scratch)}, job)
    finally:
        tempfile.tempdir = usual
    rename_plainly(spark, job.checkpoint_location)
    use_s3(spark, job)
    _leave_checksums_out(spark)
    return spark


def _leave_checksums_out(spark: SparkSession) -> None:
    """Stop Hadoop from writing a checksum next to each file on this machine: a second file, and a process without native library.

    A class without checksums in fs.file.impl would not do: RocksDB's snapshots pass through FileSystem.getLocal, which rejects all
    classes but Hadoop's own.
    """
    session: Any = spark
    hadoop = session._jsc.hadoopConfiguration()  # noqa: SLF001 - PySpark has no public way
    files = session._jvm.org.apache.hadoop.fs.FileSystem.getLocal(hadoop)  # noqa: SLF001
    files.setWriteChecksum(False)
    files.setVerifyChecksum(False)


def _on_this_machine(job: JobSettings, jars: Iterable[Path], scratch: Path) -> dict[str, str]:
    cores = _cores()
    return {
        **_ON_THIS_MACHINE,
        # A task that reads events mostly waits for the broker, so its core can run a second task.
        "spark.master": f"local[{_TASKS_A_CORE * cores},{_TASK_ATTEMPTS}]",
        "spark.default.parallelism": str(cores),
        # Not spark.jars: Python workers would search them for modules at the start of every task.
        "spark.driver.extraClassPath": os.pathsep.join(map(str, jars)),
        "spark.driver.extraJavaOptions": (
            f'-Xss16m -Dlog4j2.configurationFile={LOG4J2} -Djava.io.tmpdir="{scratch}"'
        ),
        "spark.executorEnv.TMPDIR": str(scratch),
        PARTITIONS: str(job.shuffle_partitions or cores),
    }


def _cores() -> int:
    # A container or a service manager may limit the cores of this process.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def submitted_session(job: JobSettings) -> SparkSession:
    """Return the session of spark-submit, a job or a notebook, with the job's settings where the user has set none.

    Raises:
        UnknownSparkError: this Spark is newer than the tested versions, and has no Kafka or no Delta.
    """
    partitions = {PARTITIONS: str(job.shuffle_partitions)} if job.shuffle_partitions else {}
    context: Any = SparkContext
    was_there = context._active_spark_context is not None  # noqa: SLF001 - no public way to ask
    context._ensure_initialized()  # noqa: SLF001 - only then does SparkConf know what spark-submit was given
    warn_of_newer(pyspark.__version__, context._jvm)  # noqa: SLF001
    spark = _session(_not_given(_EVERYWHERE) | partitions, job)
    # A session of a notebook keeps the log level that its user has set.
    if not was_there:
        quieten_jvm(spark)
    use_s3(spark, job)
    return spark


def _not_given(configuration: Mapping[str, str]) -> dict[str, str]:
    given = SparkConf()
    return {key: value for key, value in configuration.items() if not given.contains(key)}


def _session(configuration: Mapping[str, str], job: JobSettings) -> SparkSession:
    builder = SparkSession.builder.appName("group-coordinator")
    state_store = {STATE_STORE: _PROVIDERS[job.state_store_provider]}
    for key, value in {**configuration, **state_store, **delta_settings()}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def delta_settings() -> dict[str, str]:
    """Return the settings that add Delta to Spark, next to present extensions; Databricks has its own classes."""
    if DATABRICKS in os.environ:
        return {}
    given = SparkConf()
    extensions = [name for name in given.get(_EXTENSIONS, "").split(",") if name]
    # The user's own extensions stay: the setting is a list.
    if _DELTA not in extensions:
        extensions.append(_DELTA)
    return {
        _EXTENSIONS: ",".join(extensions),
        _CATALOG: given.get(_CATALOG, "org.apache.spark.sql.delta.catalog.DeltaCatalog"),
    }


POOL = "spark.scheduler.pool"
_STARTING = Lock()
_NONE: Mapping[str, str] = MappingProxyType({})


@contextmanager
def in_pool(spark: SparkSession, name: str) -> Iterator[None]:
    """Run the queries that this thread starts in a pool. Jobs of one pool wait for each other: compaction would delay heartbeats."""
    # Its type hints lack None, which removes a property.
    context: Any = spark.sparkContext
    before = context.getLocalProperty(POOL)
    context.setLocalProperty(POOL, name)
    try:
        yield
    finally:
        context.setLocalProperty(POOL, before)


def started_in_pool(
    writer: DataStreamWriter, spark: SparkSession, name: str, settings: Mapping[str, str] = _NONE
) -> StreamingQuery:
    """Start a query in a pool, with Spark settings for it alone: it copies the session's at its start, so queries start in turn."""
    with _STARTING, in_pool(spark, name), session_conf(spark, settings):
        return writer.start()
