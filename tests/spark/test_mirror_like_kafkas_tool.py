"""The tables of a mirrored broker beside what Kafka's own tool says of it: group by group, offset by offset, member by member."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka import TopicPartition as LibrdkafkaPartition
from confluent_kafka.admin import AdminClient
from kafka import KafkaAdminClient, KafkaConsumer, OffsetAndMetadata, TopicPartition
from kafka.admin import NewTopic
from pyspark.sql import SparkSession

from group_coordinator.clients import sql_tables
from group_coordinator.job.mirror import MirrorOptions, mirror_settings, run_mirror
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.settings import Settings
from tests.broker.clients.kafka_tool import console_share_consumer, kafka_consumer_groups
from tests.support.until import until

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

OFFSETS = "__consumer_offsets"
ORDERS, REFUNDS = "like-orders", "like-refunds"
SHOWN = ("GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID")
LAG = """
SELECT group_id, topic, "partition", committed_offset, log_end_offset, lag, member_id FROM lag
WHERE committed_offset IS NOT NULL OR member_id IS NOT NULL
"""
"""The tool leaves out the partitions of a topic that nobody has."""


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    """Of its own: the tool says something of every group that is there."""
    with EmbeddedBroker() as started:
        yield started


SHARES = """
SELECT count(*), sum(cardinality(assigned_partitions)) FROM members WHERE group_id = 'like-share'
"""


class Mirrored:
    """Drains of the mirror of a broker, and what the tables say behind them."""

    def __init__(self, spark: SparkSession, configured: Settings, broker: EmbeddedBroker) -> None:
        job = replace(configured.job, bootstrap_servers=broker.bootstrap_servers, cluster_id="like")
        self._spark = spark
        self._settings = mirror_settings(replace(configured, job=job), OFFSETS)

    def drain(self) -> None:
        options = MirrorOptions(drain=True, with_compaction=True)
        run_mirror(self._settings, set(), lambda: self._spark, options)

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        answer = sql_tables.query(self._settings.job.tables_root, query)
        return [tuple(row.values()) for row in answer.to_pylist()]


def told(said: str, names: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Rows of the tables that the tool prints, one for each group."""
    rows, places = [], [0]
    for line in said.splitlines():
        words = line.split()
        if words[:1] == ["GROUP"]:
            places = [words.index(name) for name in names]
        elif words and words[0] != "Consumer":
            rows.append(tuple(words[place] for place in places))
    return sorted(rows)


def as_told(rows: list[tuple[Any, ...]]) -> list[tuple[str, ...]]:
    return sorted(tuple("-" if each is None else str(each) for each in row) for row in rows)


def check_like_the_tool(mirrored: Mirrored, broker: EmbeddedBroker) -> None:
    """Kinds and states, members, offsets and lags are equal."""
    servers = broker.bootstrap_servers
    described = kafka_consumer_groups(servers, "--describe", "--all-groups", "--offsets").out
    assert as_told(mirrored.ask(LAG)) == told(described, SHOWN)
    listed = kafka_consumer_groups(servers, "--list", "--state").out
    assert as_told(
        mirrored.ask("SELECT group_id, state FROM groups WHERE group_type <> 'share'")
    ) == told(listed, ("GROUP", "STATE"))
    members = kafka_consumer_groups(servers, "--describe", "--all-groups", "--members").out
    assert as_told(
        mirrored.ask("""
            SELECT own.group_id, own.member_id, own.client_host, own.client_id, cardinality(own.assigned_partitions)
            FROM members own JOIN groups known ON known.group_id = own.group_id
            WHERE known.group_type <> 'share'
        """)
    ) == told(members, ("GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS"))


def test_the_tables_are_as_kafkas_tool_says(
    spark: SparkSession, configured: Settings, broker: EmbeddedBroker
) -> None:
    servers = broker.bootstrap_servers
    mirrored = Mirrored(spark, configured, broker)
    with closing(KafkaAdminClient(bootstrap_servers=servers)) as admin, ExitStack() as running:
        admin.create_topics([NewTopic(ORDERS, 3, 1), NewTopic(REFUNDS, 1, 1)])
        fill(servers)
        simple(servers, "like-simple", 2)
        simple(servers, "like-gone", 3)
        admin.delete_groups(["like-gone"])
        transactional(servers)
        start_members(servers, running)

        def shares() -> list[tuple[Any, ...]]:
            mirrored.drain()
            return mirrored.ask(SHARES)

        until(lambda: shares() == [(1, 3)], seconds=60, awaited="the member of the share group")
        check_like_the_tool(mirrored, broker)

    until_empty(servers, "like-classic")
    reset = ("--reset-offsets", "--to-earliest", "--execute", "--group", "like-classic")
    kafka_consumer_groups(servers, *reset, "--topic", ORDERS)
    kafka_consumer_groups(servers, "--delete-offsets", "--group", "like-modern", "--topic", REFUNDS)
    mirrored.drain()
    check_like_the_tool(mirrored, broker)
    assert mirrored.ask("""
        SELECT topic, "partition", "before", "after", change FROM audit WHERE group_id LIKE 'like-%' ORDER BY 1, 2, 3, 5
    """) == [
        (ORDERS, 0, 10, 0, "reset"),
        (ORDERS, 1, 10, 0, "reset"),
        (ORDERS, 2, 10, 0, "reset"),
        (REFUNDS, 0, 3, None, "group-deleted"),
        (REFUNDS, 0, 10, None, "deleted"),
    ]


def fill(servers: str) -> None:
    producer = Producer({"bootstrap.servers": servers})
    for topic, partition in ((ORDERS, 0), (ORDERS, 1), (ORDERS, 2), (REFUNDS, 0)):
        for number in range(10):
            producer.produce(topic, str(number), partition=partition)
    assert producer.flush(30) == 0


def simple(servers: str, group: str, offset: int) -> None:
    with closing(KafkaConsumer(bootstrap_servers=servers, group_id=group)) as consumer:
        place = TopicPartition(REFUNDS, 0)
        consumer.assign([place])
        consumer.commit({place: OffsetAndMetadata(offset, "", -1)})


def transactional(servers: str) -> None:
    """One transaction is committed, the next one aborted."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "like-transactional"})
    metadata = consumer.consumer_group_metadata()
    producer = Producer({"bootstrap.servers": servers, "transactional.id": "like"})
    producer.init_transactions(30)
    for offset, end in ((4, producer.commit_transaction), (5, producer.abort_transaction)):
        producer.begin_transaction()
        places = [LibrdkafkaPartition(ORDERS, 0, offset)]
        producer.send_offsets_to_transaction(places, metadata, 30)
        end(30)
    consumer.close()


def start_members(servers: str, running: ExitStack) -> None:
    """Of a share group; static ones of a classic group; ones of a consumer group that subscribe by a pattern."""
    running.enter_context(
        console_share_consumer(servers, "--topic", ORDERS, "--group", "like-share")
    )
    static = [member(servers, "like-classic", [ORDERS], **static_member(n)) for n in (1, 2)]
    modern = {"group.protocol": "consumer"}
    by_pattern = [member(servers, "like-modern", ["^like-.*"], **modern) for _ in range(2)]
    for consumer in (*static, *by_pattern):
        running.enter_context(closing(consumer))
    commit_all(static, partitions=3)
    commit_all(by_pattern, partitions=4)


def member(servers: str, group: str, topics: list[str], **options: Any) -> Consumer:
    consumer = Consumer(
        {"bootstrap.servers": servers, "group.id": group, "enable.auto.commit": False} | options
    )
    consumer.subscribe(topics)
    return consumer


def static_member(number: int) -> dict[str, Any]:
    """It does not leave when it ends: its session has to."""
    name = f"static-{number}"
    return {"group.instance.id": name, "client.id": name, "session.timeout.ms": 6_000}


def commit_all(consumers: list[Consumer], partitions: int) -> None:
    """Once the consumers have shared out so many partitions, ten records of each are read."""

    def shared_out() -> bool:
        for consumer in consumers:
            consumer.poll(0.1)
        owned = [len(consumer.assignment()) for consumer in consumers]
        return all(owned) and sum(owned) == partitions

    until(shared_out, seconds=60, awaited="assignments")
    for consumer in consumers:
        read = [
            LibrdkafkaPartition(each.topic, each.partition, 10) for each in consumer.assignment()
        ]
        consumer.commit(offsets=read, asynchronous=False)


def until_empty(servers: str, group: str) -> None:
    admin = AdminClient({"bootstrap.servers": servers})

    def is_empty() -> bool:
        [asked] = admin.describe_consumer_groups([group]).values()
        return bool(asked.result(10).state.name == "EMPTY")

    until(is_empty, seconds=30, awaited=f"the end of {group}'s sessions")
