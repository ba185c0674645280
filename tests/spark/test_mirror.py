"""The mirror on a real broker: what is in the topic is in the log, exactly once, whatever happens on the way."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Thread

import pytest
from chispa import assert_df_equality
from confluent_kafka import Consumer, Producer
from confluent_kafka import TopicPartition as LibrdkafkaPartition
from kafka import KafkaAdminClient, KafkaConsumer, OffsetAndMetadata, TopicPartition
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from group_coordinator.codecs.offsets_topic import encode_entry
from group_coordinator.codecs.records.record_types import Key, LogEntry, RecordValue
from group_coordinator.driver.errors import StartUpError
from group_coordinator.driver.mirror.run import MirrorOptions
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.settings import Settings
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.creation import TABLES
from group_coordinator.tables.failed_events import DEAD_LETTERS
from group_coordinator.tables.samples import TOPIC_POSITIONS
from group_coordinator.tables.writer import Writer
from tests.spark.mirror_stage import (
    COPY,
    OFFSETS,
    Mirror,
    commit,
    disk_full_at,
    new_topic,
    place_of,
    produce,
)
from tests.support.message_batches import expected
from tests.support.offsets_topic_messages import recorded
from tests.support.until import until

pytestmark = [pytest.mark.spark, pytest.mark.kafka]
CLASSIC = {
    "protocolType": "consumer",
    "generation": 1,
    "protocol": None,
    "leader": None,
    "currentStateTimestamp": 1,
    "members": [],
}
"""The metadata of a group without members."""


def test_a_copy_of_the_topic_is_in_the_tables_once(
    mirror: Mirror,
    broker: EmbeddedBroker,
    admin: KafkaAdminClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Messages of all types, and damaged ones; a batch fails between the two tables; later there is more."""
    topic = new_topic(admin, COPY, 2)
    messages = [message for message, _ in recorded()]
    produce(broker, topic, messages, partition=0)
    with monkeypatch.context() as faults:
        faults.setattr(Writer, "append_once", disk_full_at(DEAD_LETTERS, 1, Writer.append_once))
        with pytest.raises(Exception, match="the disk is full"):
            mirror.run(topic, mirror_max_offsets_per_trigger=100)
    assert {row["batch_id"] for row in mirror.rows()} == {0, 1}
    assert {row["batch_id"] for row in mirror.rows("dead_letters")} == {0}
    produce(broker, topic, [*messages[:20], commit(7)], partition=1)
    mirror.run(topic)

    wanted = [expected(message) for message in [*messages, *messages[:20], commit(7)]]
    log, letters = mirror.rows(), mirror.rows("dead_letters")
    names = ("group_id", "record_type", "key", "value", "topic", "partition", "member_id", "offset")
    assert [{name: row[name] for name in names} for row in log] == [
        {name: row[name] for name in names} for row in wanted
    ]
    assert [{name: row[name] for name in ("reason", "key", "value")} for row in letters] == [
        row["letter"] for row in wanted if row["letter"]
    ]
    places = [(row["source_partition"], row["source_offset"]) for row in log]
    assert places == [(0, n) for n in range(len(messages))] + [(1, n) for n in range(21)]
    assert [place_of(row) for row in letters] == [
        place_of(row) for row in log if row["record_type"] == -3
    ]
    last = log[-1]
    assert (last["cluster_id"], last["reason"], last["principal"]) == ("eu-1", "mirrored", None)
    assert (last["source_topic"], last["inferred"]) == (COPY, False)
    assert (last["batch_id"], last["seq"]) == (2, 20)
    assert last["event_time"].timestamp() == 0.021


def test_only_what_was_committed_counts_and_nothing_behind_an_open_transaction(
    mirror: Mirror, broker: EmbeddedBroker, admin: KafkaAdminClient
) -> None:
    topic = new_topic(admin, "mirror-transactions", 1)
    options = {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": topic}
    producer = Producer(options)
    producer.init_transactions(30)

    def in_transaction(offset: int) -> None:
        producer.begin_transaction()
        key, value = commit(offset)
        producer.produce(topic, value, key)
        producer.flush(30)

    in_transaction(1)
    producer.commit_transaction(30)
    in_transaction(2)
    producer.abort_transaction(30)
    in_transaction(3)
    produce(broker, topic, [commit(4)], partition=0)
    mirror.run(topic, mirror_positions_interval_ms=1_000)
    assert [row["offset"] for row in mirror.rows()] == [1]
    [position] = mirror.rows("topic_positions", topic=topic)
    assert (position["last_stable_offset"], position["log_end_offset"]) == (4, 6)

    producer.commit_transaction(30)
    mirror.run(topic)
    assert [row["offset"] for row in mirror.rows()] == [1, 3, 4]


def test_a_record_of_a_time_that_no_calendar_shows_is_at_the_last_that_one_does(
    mirror: Mirror, broker: EmbeddedBroker, admin: KafkaAdminClient
) -> None:
    topic = new_topic(admin, "mirror-far-times", 1, message_timestamp_after_max_ms=str(2**63 - 1))
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for at_ms in (253_402_300_800_000, 9_000_000_000_000_000, 1_700_000_000_000):
        key, value = commit(at_ms)
        producer.produce(topic, value, key, timestamp=at_ms)
    assert producer.flush(30) == 0
    mirror.run(topic)

    assert [(row["offset"], row["event_time"].isoformat()) for row in mirror.rows()] == [
        (253_402_300_800_000, "9999-12-31T23:59:59.999000+00:00"),
        (9_000_000_000_000_000, "9999-12-31T23:59:59.999000+00:00"),
        (1_700_000_000_000, "2023-11-14T22:13:20+00:00"),
    ]


def test_groups_of_real_clients_are_in_the_tables_until_a_signal(
    mirror: Mirror, broker: EmbeddedBroker, admin: KafkaAdminClient
) -> None:
    """The topic is internal: Spark's own source leaves it out of what it reads."""
    topic = new_topic(admin, "mirror-orders", 1)
    servers = broker.bootstrap_servers
    with closing(KafkaConsumer(bootstrap_servers=servers, group_id="mirror-python")) as consumer:
        consumer.assign([TopicPartition(topic, 0)])
        consumer.commit({TopicPartition(topic, 0): OffsetAndMetadata(1, "half way", -1)})
    librdkafka = Consumer({"bootstrap.servers": servers, "group.id": "mirror-librdkafka"})
    librdkafka.commit(offsets=[LibrdkafkaPartition(topic, 0, 1)], asynchronous=False)
    librdkafka.close()
    admin.delete_groups(["mirror-librdkafka"])
    with sigterm_when(lambda: mirror.rows("groups", group_id="mirror-python")):
        at_once = {"mirror_interval_ms": 200, "compaction_interval_ms": 200}
        mirror.run(OFFSETS, MirrorOptions(drain=False, with_compaction=True), **at_once)

    [log] = mirror.rows(group_id="mirror-python", record_type=1)
    assert json.loads(log["key"])["data"] == {
        "group": "mirror-python",
        "topic": topic,
        "partition": 0,
    }
    assert json.loads(log["value"])["data"]["metadata"] == "half way"
    lost = mirror.rows(group_id="mirror-librdkafka", record_type=1)
    assert [(row["offset"], row["reason"], row["inferred"]) for row in lost] == [
        (1, "mirrored", False),
        (None, "group-deleted", True),
    ]
    offsets = mirror.rows("offsets", topic=topic)
    assert [(row["group_id"], row["committed_offset"]) for row in offsets] == [("mirror-python", 1)]
    # Spark's own consumers have joined no group.
    groups = [row["group_id"] for row in mirror.rows("groups")]
    assert not [group for group in groups if group.startswith("spark-kafka")]


def test_a_topic_that_its_own_coordinator_refuses_to_load_is_mirrored(
    spark: SparkSession, configured: Settings, tmp_path: Path
) -> None:
    """A group of both kinds, which Kafka takes for damage: nobody finds a coordinator for any group then."""
    one_partition = {"offsets.topic.num.partitions": "1"}
    broker = EmbeddedBroker(tmp_path / "broker", properties=one_partition)
    with broker:
        servers = broker.bootstrap_servers
        with closing(KafkaAdminClient(bootstrap_servers=servers)) as admin:
            new_topic(admin, "orders", 1)
        with closing(KafkaConsumer(bootstrap_servers=servers, group_id="both")) as consumer:
            consumer.assign([TopicPartition("orders", 0)])
            consumer.commit({TopicPartition("orders", 0): OffsetAndMetadata(1, "", -1)})
        kinds = [
            encode_entry(LogEntry(Key(2, {"group": "both"}), RecordValue(version=3, data=CLASSIC))),
            encode_entry(
                LogEntry(Key(3, {"groupId": "both"}), RecordValue(version=0, data={"epoch": 1}))
            ),
        ]
        # Brokers take records for an internal topic from this client alone.
        produce(broker, OFFSETS, kinds, partition=0, **{"client.id": "__admin_client"})
        broker.stop()
        broker.start()
        mirror = Mirror(spark, configured, broker)
        mirror.run(OFFSETS)

    rows = [(row["group_id"], row["record_type"]) for row in mirror.rows()]
    assert rows == [("both", 1), ("both", 2), ("both", 3)]


@contextmanager
def sigterm_when(condition: Callable[[], object]) -> Iterator[None]:
    """Send this process SIGTERM, which a run in the block takes for its end, once something is so, or after a minute."""

    def send() -> None:
        try:
            until(condition, seconds=60, awaited="what ends the run")
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    thread = Thread(target=send)
    thread.start()
    yield
    thread.join()


@pytest.fixture
def in_a_catalog(spark: SparkSession, tmp_path: Path) -> Iterator[str]:
    """The tables, made quickly, in a schema of a catalog."""
    spark.sql(f"CREATE SCHEMA of_mirror LOCATION '{tmp_path}/warehouse'")
    for table in TABLES:
        table.create_on_disk(tmp_path / table.name)
        location = f"USING delta LOCATION '{tmp_path}/{table.name}'"
        spark.sql(f"CREATE TABLE of_mirror.{table.name} {location}")
    yield "spark_catalog.of_mirror"
    spark.sql("DROP SCHEMA of_mirror CASCADE")


@pytest.mark.nightly
def test_in_a_catalog_the_ends_of_topics_are_sampled_by_spark(
    mirror: Mirror,
    broker: EmbeddedBroker,
    admin: KafkaAdminClient,
    spark: SparkSession,
    in_a_catalog: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Spark's first look at ten tables takes as long as all the rest, and these have been made a moment ago.
    monkeypatch.setattr("group_coordinator.driver.mirror.run.prepare_tables", lambda *_: None)
    topic = new_topic(admin, "mirror-catalog", 2)
    produce(broker, topic, [commit(1), commit(2)], partition=1)
    tables = TableCatalog(in_a_catalog)

    def samples() -> DataFrame:
        rows = tables.read(spark, TOPIC_POSITIONS.name).where(F.col("topic") == topic)
        return rows.select("cluster_id", "partition", "log_start_offset", "log_end_offset")

    with sigterm_when(
        lambda: samples().count() >= 4 and tables.read(spark, "coordinator_log").count()
    ):
        options = MirrorOptions(drain=False, with_compaction=False)
        often = {"mirror_interval_ms": 200, "mirror_positions_interval_ms": 200}
        mirror.run(topic, options, tables_root=in_a_catalog, maintenance_interval_ms=0, **often)

    wanted = [("eu-1", 0, 0, 0), ("eu-1", 1, 0, 2)]
    expected_rows = spark.createDataFrame(wanted, samples().schema)
    assert_df_equality(samples().distinct(), expected_rows, ignore_row_order=True)


def test_a_topic_that_is_not_there_is_named(mirror: Mirror) -> None:
    with pytest.raises(StartUpError, match="topic nothing-here does not exist at"):
        mirror.run("nothing-here")
