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
from pyspark.sql import DataFrame, SparkSession

from group_coordinator.clients import sql_tables
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.driver.positions import sample_positions
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.offset_reporter import OffsetReporter
from group_coordinator.settings import Settings
from tests.broker.clients.kafka_tool import kafka_consumer_groups
from tests.support.group_history import tables_of
from tests.support.one_group_job import OneGroupJob
from tests.support.until import until

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.usefixtures("topics")]

ORDERS, REFUNDS = "reported-orders", "reported-refunds"
TOTALS, BUSY = "totals-of-orders", "busy-spark"
EVENTS, RESPONSES = "reported-events", "reported-responses"
LAG = """
SELECT group_id, topic, sum(committed_offset) AS committed, sum(lag) AS lag FROM lag
GROUP BY group_id, topic ORDER BY topic
"""
STATUS = "SELECT group_id, total_lag, max_lag_topic FROM group_status"


@pytest.fixture(scope="module")
def topics(broker: EmbeddedBroker) -> None:
    """Ten records in each of two partitions, and three in one."""
    with closing(KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)) as admin:
        of_job = (NewTopic(EVENTS, 1, 1), NewTopic(RESPONSES, 1, 1))
        admin.create_topics(
            [NewTopic(ORDERS, 2, 1), NewTopic(REFUNDS, 1, 1), *of_job], wait_for_metadata=True
        )
    produce(broker, ORDERS, 20, partitions=2)
    produce(broker, REFUNDS, 3, partitions=1)


def produce(broker: EmbeddedBroker, topic: str, count: int, partitions: int) -> None:
    with closing(KafkaProducer(bootstrap_servers=broker.bootstrap_servers)) as producer:
        for number in range(count):
            producer.send(topic, value=b"1", partition=number % partitions)


@pytest.fixture
def job(broker: EmbeddedBroker, topics: None) -> Iterator[OneGroupJob]:  # noqa: ARG001 - made before
    with OneGroupJob(broker.bootstrap_servers, EVENTS, RESPONSES, "spark-totals") as started:
        yield started


@contextmanager
def listening(spark: SparkSession, *reporters: OffsetReporter) -> Iterator[None]:
    for reporter in reporters:
        spark.streams.addListener(reporter)
    yield
    for reporter in reporters:
        reporter.close()
        spark.streams.removeListener(reporter)


@contextmanager
def member_of(group: str, servers: str) -> Iterator[None]:
    member = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": group,
            "group.protocol": "consumer",
            "enable.auto.commit": False,
        }
    )
    member.subscribe([REFUNDS])
    until(lambda: member.poll(0.1) or member.assignment(), seconds=30, awaited="a member")
    yield
    member.close()


def kafka_source(spark: SparkSession, broker: EmbeddedBroker, option: str, value: str) -> DataFrame:
    return (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", broker.bootstrap_servers)
        .option(option, value)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", 8)
        .load()
    )


def read_all(records: DataFrame, name: str, folder: Path) -> None:
    """Run a query over what is there, in a few batches."""
    (
        records.writeStream.format("noop")
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
    job: OneGroupJob,
    broker: EmbeddedBroker,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    servers = broker.bootstrap_servers
    to_kafka = OffsetReporter(servers, group_ids={"totals": TOTALS})
    to_job = OffsetReporter(
        servers, target="coordinator", events_topic=EVENTS, responses_topic=RESPONSES
    )
    to_others = OffsetReporter(servers, group_ids={"totals": BUSY})
    with member_of(BUSY, servers), listening(spark, to_kafka, to_job, to_others):
        records = kafka_source(spark, broker, "subscribe", f"{ORDERS},{REFUNDS}")
        read_all(records, "totals", tmp_path / "query")
        produce(broker, ORDERS, 4, partitions=2)
        until(lambda: to_others.counts.failed, seconds=30, awaited="a refusal")
        to_others.close(timeout_s=1.0)  # what it still has to commit will not be taken

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

    assert (to_job.counts.taken > 0, to_job.counts.failed) == (True, 0)
    root = str(tables_of(tmp_path / "tables", job.history))
    here = replace(configured.job, tables_root=root, cluster_id=job.history.cluster_id)
    sample_positions(here, Connection(servers), [ORDERS, REFUNDS], None, lambda: spark)
    assert sql_tables.rows(root, LAG) == [
        {"group_id": "spark-totals", "topic": ORDERS, "committed": 20, "lag": 4},
        {"group_id": "spark-totals", "topic": REFUNDS, "committed": 3, "lag": 0},
    ]
    assert sql_tables.rows(root, STATUS) == [
        {"group_id": "spark-totals", "total_lag": 4, "max_lag_topic": ORDERS}
    ]

    assert [each.message[:31] for each in caplog.records if BUSY in each.message] == [
        "group 'busy-spark' has members,"
    ]
    assert committed(broker, BUSY) == {}


def test_each_kind_of_source_has_the_group_that_its_option_names(
    spark: SparkSession, broker: EmbeddedBroker, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    options = {
        "assign": f'{{"{ORDERS}":[0,1]}}',
        "subscribe": f"{REFUNDS},{ORDERS},",
        "subscribePattern": "reported-(orders|refund[s])",
    }
    groups = {
        f'{{"{ORDERS}": [1, 0]}}': "assigned",
        f"{ORDERS}, {REFUNDS}": "subscribed",
        options["subscribePattern"]: "by-pattern",
        "reported-orderz": "none",
    }
    reporter = OffsetReporter(broker.bootstrap_servers, group_ids={"three-sources": groups})
    first, second, third = (kafka_source(spark, broker, *each) for each in options.items())
    with listening(spark, reporter):
        read_all(first.union(second).union(third), "three-sources", tmp_path / "query")

    topics = {
        group: {partition.topic for partition in committed(broker, group)}
        for group in ("assigned", "subscribed", "by-pattern", "none")
    }
    assert topics == {
        "assigned": {ORDERS},
        "subscribed": {ORDERS, REFUNDS},
        "by-pattern": {ORDERS, REFUNDS},
        "none": set(),
    }
    [warning] = [each for each in caplog.messages if "has no Kafka source" in each]
    assert warning.startswith(
        "query 'three-sources' has no Kafka source 'reported-orderz'; its Kafka sources: "
    )
