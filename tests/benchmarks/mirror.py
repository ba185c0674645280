"""The first load of a mirror beside the floor, and its decoder alone.

    python -m tests.benchmarks.mirror [--records 1200000] [--rounds 3]

1,000 groups have committed to 10 partitions each, again and again, in a topic of 50 partitions. The floor is the same
source and the same kind of table with the raw bytes of the messages, and no Python. Both begin with empty tables and an
empty checkpoint in every round, in turns; the first round, in which the JVM compiles, is shown and does not count. The
decoder alone gets the same messages as Arrow batches, in one thread.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice
from tempfile import TemporaryDirectory
from threading import Event

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from deltalake import Transaction
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import BinaryType, IntegerType, LongType, StructType, TimestampType
from rich.console import Console

from group_coordinator import settings
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.codecs.offsets_topic import encode_entry
from group_coordinator.codecs.records.record_types import Key, LogEntry, RecordValue
from group_coordinator.driver.mirror.topic import MirroredTopic
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.local.folders import scratch_folder
from group_coordinator.local.jars import spark_jars
from group_coordinator.mirror.arrow_decoder import decode_batches
from group_coordinator.mirror.query import MIRROR, MirrorRun
from group_coordinator.mirror.sinks import MirroredBatch, MirrorSinks
from group_coordinator.mirror.source import READING, MessageSource
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.ownership import checked_writer
from group_coordinator.streaming.cluster_options import cluster_options
from group_coordinator.streaming.session import local_session
from group_coordinator.tables.append import append_frame
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.creation import create_tables
from group_coordinator.tables.definition import TableDefinition, optional
from group_coordinator.tables.maintenance_work import session_conf
from tests.benchmarks.measured import show
from tests.support.message_batches import batch_of

TOPIC, PARTITIONS = "offsets-of-a-cluster", 50
GROUPS, TOPIC_PARTITIONS = 1_000, 10
TOPIC_ID = "4ksO1bcLSgCStYJnTlCVLg"
DECODED_ALONE, AT_ONCE = 100_000, 10_000
RAW = TableDefinition(
    "raw_messages",
    "The bytes of the messages",
    StructType(
        [
            optional("key", BinaryType(), ""),
            optional("value", BinaryType(), ""),
            optional("partition", IntegerType(), ""),
            optional("offset", LongType(), ""),
            optional("timestamp", TimestampType(), ""),
        ]
    ),
)


def commits(count: int) -> Iterator[tuple[int, bytes, bytes | None]]:
    """Partition of the topic, key and value, as a broker of 4.4 writes them."""
    for number in range(count):
        place = number % (GROUPS * TOPIC_PARTITIONS)
        group, partition = divmod(place, TOPIC_PARTITIONS)
        about = {"group": f"billing-{group}", "topic": "orders", "partition": partition}
        says = {
            "offset": number * 17,
            "leaderEpoch": 3,
            "metadata": "",
            "commitTimestamp": 1_700_000_000_000 + number,
            "topicId": TOPIC_ID,
        }
        entry = LogEntry(Key(1, about), RecordValue(version=4, data=says))
        yield group % PARTITIONS, *encode_entry(entry)


def new_topic(servers: str) -> None:
    """Make the topic."""
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)])[TOPIC].result(30)


def fill(servers: str, count: int) -> None:
    """Make the topic, and write the commits."""
    new_topic(servers)
    producer = Producer({"bootstrap.servers": servers, "queue.buffering.max.messages": 100_000})
    for number, (partition, key, value) in enumerate(commits(count)):
        producer.produce(TOPIC, value, key, partition=partition)
        if number % 50_000 == 0:
            producer.flush(60)
    producer.flush(60)


def mirror(spark: SparkSession, job: JobSettings) -> None:
    """All of the topic into coordinator_log."""
    create_tables(job.tables_root, lambda: spark)
    writer = checked_writer(spark, job, lambda: None, MIRROR)
    topic = MirroredTopic(spark, job, Connection.of(job), cluster_options(job))
    sinks = MirrorSinks(
        writer=writer,
        topic=TOPIC,
        explain=lambda rows, _batch_id, _gone: rows,
        report=_silent,
        gone=topic.gone,
    )
    MirrorRun(
        spark=spark,
        job=job,
        take_up=topic.take_up,
        may_go_on=topic.may_go_on,
        sinks=sinks,
        stop=Event(),
    ).drain()
    _check(spark, job, COORDINATOR_LOG)


def _silent(_batch_id: int, _found: MirroredBatch) -> None:
    pass


def identity(spark: SparkSession, job: JobSettings) -> None:
    """All of the topic as raw bytes."""
    catalog = TableCatalog(job.tables_root)
    RAW.create(spark, catalog)

    def append(batch: DataFrame, batch_id: int) -> None:
        append_frame(batch, catalog, RAW, Transaction(RAW.name, batch_id))

    with session_conf(spark, READING):
        most = job.mirror_max_offsets_per_trigger
        source = MessageSource(cluster_options(job), TOPIC, range(PARTITIONS))
        messages = source.messages(spark, most, is_lossy=False)
        cores = spark.sparkContext.defaultParallelism
        writer = messages.coalesce(cores).writeStream.foreachBatch(append)
        where = f"{job.checkpoint_location}/identity"
        query = writer.option("checkpointLocation", where).trigger(availableNow=True).start()
    query.awaitTermination()
    _check(spark, job, RAW)


def _check(spark: SparkSession, job: JobSettings, table: TableDefinition) -> None:
    count = TableCatalog(job.tables_root).read(spark, table.name).count()
    Console(stderr=True).print(f"{table.name}: {count:,} rows")


def seconds_of(
    load: Callable[[SparkSession, JobSettings], None], spark: SparkSession, job: JobSettings
) -> float:
    """How long a first load takes."""
    with TemporaryDirectory() as folder:
        there = replace(
            job, tables_root=f"{folder}/tables", checkpoint_location=f"{folder}/checkpoint"
        )
        began = time.perf_counter()
        load(spark, there)
        return time.perf_counter() - began


def decoder_alone() -> int:
    """Messages a second."""
    messages = [(key, value) for _, key, value in islice(commits(DECODED_ALONE), DECODED_ALONE)]
    batches = [
        batch_of(messages[start : start + AT_ONCE]) for start in range(0, DECODED_ALONE, AT_ONCE)
    ]
    seconds = []
    for _ in range(5):
        began = time.process_time()
        for _batch in decode_batches(batches, None):
            pass
        seconds.append(time.process_time() - began)
    return round(DECODED_ALONE / min(seconds))


def measure(records: int, rounds: int) -> dict[str, float]:
    """The best rounds but the first, and the decoder."""
    say = Console(stderr=True).print
    times: dict[str, list[float]] = {"mirror": [], "identity": []}
    with ExitStack() as opened:
        broker = opened.enter_context(EmbeddedBroker())
        fill(broker.bootstrap_servers, records)
        scratch = opened.enter_context(scratch_folder())
        given = [f"bootstrap.servers={broker.bootstrap_servers}", f"events.topic={TOPIC}"]
        job = settings.load(overrides=given).job
        spark = local_session(job, spark_jars(), scratch)
        opened.callback(spark.stop)
        for number in range(rounds):
            for name, load in (("identity", identity), ("mirror", mirror)):
                times[name].append(seconds_of(load, spark, job))
                say(f"round {number}: {name} {times[name][-1]:.1f} s")
    ours, floor = (min(times[name][1:] or times[name]) for name in ("mirror", "identity"))
    return {
        "records": records,
        "mirror_s": round(ours, 2),
        "identity_s": round(floor, 2),
        "mirror_records_per_second": round(records / ours),
        "identity_records_per_second": round(records / floor),
        "time_ratio": round(ours / floor, 2),
        "decoder_alone_records_per_second": decoder_alone(),
    }


def main() -> None:
    """Print the table and the JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--records", type=int, default=1_200_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    show("The first load of a mirror", measure(arguments.records, arguments.rounds))


if __name__ == "__main__":
    main()
