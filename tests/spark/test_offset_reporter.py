"""A streaming query on a real Kafka topic: its offsets as those of a group, at the brokers and at the job."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from confluent_kafka import Consumer
from kafka import KafkaAdminClient, KafkaProducer, TopicPartition
from kafka.admin import NewTopic
from pyspark.sql import SparkSession

from group_coordinator.clients import sql_tables
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.coordinator_topics import create_topics
from group_coordinator.job.position_rounds import sample_positions
from group_coordinator.job.run import RunOptions, run_coordinator
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.settings import JobSettings, Settings
from group_coordinator.spark import OffsetReporter
from group_coordinator.streaming.checkpoint.layout import QUERY_NAME as COORDINATOR
from group_coordinator.tables.creation import create_tables
from tests.broker.clients.kafka_tool import kafka_consumer_groups
from tests.support.until import until

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.usefixtures("topics")]

ORDERS, REFUNDS = "reported-orders", "reported-refunds"
TOTALS, BUSY = "totals-of-orders", "busy-spark"
DRAIN = RunOptions(drain=True, with_compaction=True, progress_file=None)
LAG = """
SELECT group_id, topic, sum(committed_offset) AS committed, sum(lag) AS lag FROM lag
GROUP BY group_id, topic ORDER BY topic
"""
STATUS = "SELECT group_id, total_lag, max_lag_topic FROM group_status"


@pytest.fixture(scope="module")
def topics(broker: EmbeddedBroker) -> None:
    """Ten records in each of two partitions, and three in one."""
    with closing(KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)) as admin:
        admin.create_topics(
            [NewTopic(ORDERS, 2, 1), NewTopic(REFUNDS, 1, 1)], wait_for_metadata=True
        )
    produce(broker, ORDERS, 20, partitions=2)
    produce(broker, REFUNDS, 3, partitions=1)


def produce(broker: EmbeddedBroker, topic: str, count: int, partitions: int) -> None:
    with closing(KafkaProducer(bootstrap_servers=broker.bootstrap_servers)) as producer:
        for number in range(count):
            producer.send(topic, value=b"1", partition=number % partitions)


@pytest.fixture
def job(configured: Settings, broker: EmbeddedBroker) -> JobSettings:
    return replace(
        configured.job,
        bootstrap_servers=broker.bootstrap_servers,
        events_topic="reported-events",
        responses_topic="reported-responses",
    )


@contextmanager
def listening(spark: SparkSession, *reporters: OffsetReporter) -> Iterator[None]:
    for reporter in reporters:
        spark.streams.addListener(reporter)
    yield
    for reporter in reporters:
        reporter.close(timeout_s=1.0)
        spark.streams.removeListener(reporter)


@contextmanager
def member_of(group: str, servers: str) -> Iterator[None]:
    member = Consumer(
        {"bootstrap.servers": servers, "group.id": group, "group.protocol": "consumer"}
    )
    member.subscribe([REFUNDS])
    until(lambda: member.poll(0.1) or member.assignment(), seconds=30, awaited="a member")
    yield
    member.close()


def read_all(spark: SparkSession, broker: EmbeddedBroker, name: str, folder: Path) -> None:
    """Run a query over what is there, in one batch: a job that answers later has one commit to answer."""
    (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", broker.bootstrap_servers)
        .option("subscribe", f"{ORDERS},{REFUNDS}")
        .option("startingOffsets", "earliest")
        .load()
        .writeStream.format("noop")
        .queryName(name)
        .option("checkpointLocation", str(folder))
        .trigger(availableNow=True)
        .start()
        .awaitTermination()
    )


def committed(broker: EmbeddedBroker, group: str) -> dict[TopicPartition, int]:
    with closing(KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)) as admin:
        found = admin.list_group_offsets(group)[group]
    return {partition: committed.offset for partition, committed in found.items()}


def test_a_spark_job_has_lag_in_every_view(
    spark: SparkSession,
    configured: Settings,
    job: JobSettings,
    broker: EmbeddedBroker,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    servers = job.bootstrap_servers
    create_topics(Connection(servers), job)
    create_tables(job.tables_root, lambda: spark)
    to_kafka = OffsetReporter(servers, group_ids={"totals": TOTALS, COORDINATOR: None})
    to_job = OffsetReporter(
        servers,
        target="coordinator",
        group_ids={COORDINATOR: None},
        events_topic=job.events_topic,
        responses_topic=job.responses_topic,
    )
    to_others = OffsetReporter(servers, group_ids={"totals": BUSY, COORDINATOR: None})
    with member_of(BUSY, servers), listening(spark, to_kafka, to_job, to_others):
        read_all(spark, broker, "totals", tmp_path / "query")
        produce(broker, ORDERS, 4, partitions=2)
        # The job answers now, long after the query has ended.
        run_coordinator(replace(configured, job=job), lambda: spark, DRAIN)
        until(lambda: to_others.counts.failed, seconds=30, awaited="a refusal")
    assert (to_kafka.counts.taken, *to_job.counts, to_others.counts.taken) == (1, 1, 0, 0)
    assert [each.message[:31] for each in caplog.records if BUSY in each.message] == [
        "group 'busy-spark' has members,"
    ]
    assert committed(broker, BUSY) == {}
    sample_positions(job, Connection(servers), [ORDERS, REFUNDS], None, lambda: spark)
    assert committed(broker, TOTALS) == {
        TopicPartition(ORDERS, 0): 10,
        TopicPartition(ORDERS, 1): 10,
        TopicPartition(REFUNDS, 0): 3,
    }
    said = kafka_consumer_groups(servers, "--describe", "--group", TOTALS).out
    assert [line.split()[:6] for line in said.splitlines() if ORDERS in line] == [
        [TOTALS, ORDERS, "0", "10", "12", "2"],
        [TOTALS, ORDERS, "1", "10", "12", "2"],
    ]
    assert sql_tables.rows(job.tables_root, LAG) == [
        {"group_id": "spark-totals", "topic": ORDERS, "committed": 20, "lag": 4},
        {"group_id": "spark-totals", "topic": REFUNDS, "committed": 3, "lag": 0},
    ]
    assert sql_tables.rows(job.tables_root, STATUS) == [
        {"group_id": "spark-totals", "total_lag": 4, "max_lag_topic": ORDERS}
    ]
