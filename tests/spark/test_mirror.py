"""The mirror on a real broker: what is in the topic is in the log, exactly once, whatever happens on the way."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from threading import Thread
from typing import Any

import pytest
from chispa import assert_df_equality
from confluent_kafka import Consumer, Producer
from confluent_kafka import TopicPartition as LibrdkafkaPartition
from deltalake import DeltaTable
from kafka import KafkaAdminClient, KafkaConsumer, OffsetAndMetadata, TopicPartition
from kafka.admin import NewTopic
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from group_coordinator.codecs.offsets_topic import encode_entry
from group_coordinator.codecs.records.envelope import Key, LogEntry, Value
from group_coordinator.job.mirror import MirrorOptions, mirror_settings, run_mirror
from group_coordinator.job.refusals import JobRefusedError
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.settings import Settings
from group_coordinator.streaming.checkpoint.ownership import CheckpointError, checked_writer
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.creation import TABLES
from group_coordinator.tables.dead_letters import DEAD_LETTERS
from group_coordinator.tables.definition import TableDefinition
from group_coordinator.tables.topic_positions import TOPIC_POSITIONS
from group_coordinator.tables.writer import Writer
from tests.support.message_batches import Bytes, expected
from tests.support.offsets_topic_messages import recorded
from tests.support.until import until

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

OFFSETS = "__consumer_offsets"
COPY = "mirror-copy"
DRAIN = MirrorOptions(drain=True, with_compaction=False)


class Mirror:
    """Runs of the mirror of one topic, and what they leave in the tables."""

    def __init__(self, spark: SparkSession, configured: Settings, broker: EmbeddedBroker) -> None:
        self._spark = spark
        job = replace(
            configured.job,
            bootstrap_servers=broker.bootstrap_servers,
            cluster_id="eu-1",
            mirror_positions_interval_ms=0,
        )
        self.settings = replace(configured, job=job)

    def run(self, topic: str, options: MirrorOptions = DRAIN, **job: Any) -> None:
        settings = replace(self.settings, job=replace(self.settings.job, **job))
        run_mirror(
            mirror_settings(settings, topic),
            {"offsets.retention.minutes"},
            lambda: self._spark,
            options,
        )

    def rows(self, table: str = "coordinator_log", **wanted: object) -> list[dict[str, Any]]:
        """In the order of the source; none where the table has not been made."""
        folder = Path(self.settings.job.tables_root) / table
        if not DeltaTable.is_deltatable(str(folder)):
            return []
        found = DeltaTable(folder).to_pyarrow_table()
        rows = [row for row in found.to_pylist() if wanted.items() <= row.items()]
        if table in {"coordinator_log", "dead_letters"}:
            rows.sort(key=lambda row: (row["source_partition"] or 0, row["source_offset"] or 0))
        return rows


@pytest.fixture
def mirror(spark: SparkSession, configured: Settings, broker: EmbeddedBroker) -> Mirror:
    return Mirror(spark, configured, broker)


@pytest.fixture
def admin(broker: EmbeddedBroker) -> Iterator[KafkaAdminClient]:
    with closing(KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)) as client:
        yield client


def new_topic(admin: KafkaAdminClient, name: str, partitions: int, **configs: str) -> str:
    """The messages here are of 1970: by default the broker would remove them at its first look."""
    kept = {"retention.ms": "-1"} | {key.replace("_", "."): value for key, value in configs.items()}
    topic = NewTopic(name, partitions, 1, topic_configs=kept)
    admin.create_topics([topic], wait_for_metadata=True)
    return name


def produce(broker: EmbeddedBroker, topic: str, messages: Iterable[Bytes], partition: int) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for at_ms, (key, value) in enumerate(messages, start=1):
        producer.produce(topic, value, key, partition=partition, timestamp=at_ms)
    assert producer.flush(30) == 0


def commit(offset: int, group: str = "billing") -> Bytes:
    key = Key(1, {"group": group, "topic": "orders", "partition": 0})
    says = {
        "offset": offset,
        "leaderEpoch": -1,
        "metadata": "",
        "commitTimestamp": 1_700_000_000_000,
    }
    return encode_entry(LogEntry(key, Value(version=3, data=says)))


def place_of(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("batch_id", "source_partition", "source_offset"))


def disk_full_at(
    wanted: TableDefinition, batch_id: int, append_once: Callable[..., None]
) -> Callable[..., None]:
    """append_once as it is where the disk has no room for this batch of a table."""

    def or_fail(writer: Writer, rows: Any, size: Any, table: TableDefinition, batch: int) -> None:
        if (table, batch) == (wanted, batch_id):
            raise OSError("the disk is full")
        append_once(writer, rows, size, table, batch)

    return or_fail


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


def test_a_clusters_rows_have_one_writer(
    mirror: Mirror, broker: EmbeddedBroker, admin: KafkaAdminClient, spark: SparkSession
) -> None:
    topic = new_topic(admin, "mirror-once", 1)
    produce(broker, topic, [commit(1)], partition=0)
    mirror.run(topic)
    elsewhere = f"{mirror.settings.job.checkpoint_location}-elsewhere"

    with pytest.raises(
        JobRefusedError, match=r"is written by checkpoint .*, from topic mirror-once, and not by"
    ):
        mirror.run(topic, checkpoint_location=elsewhere)
    with pytest.raises(
        CheckpointError, match=r"is no checkpoint, but tables\.root = .* cluster\.id = eu-1: run "
    ):
        checked_writer(spark, mirror.settings.job, lambda: None)
    with pytest.raises(
        JobRefusedError, match=r"reads topic mirror-once, not __consumer_offsets: .* --cluster"
    ):
        mirror.run(OFFSETS)
    mirror.run(topic, cluster_id="eu-2")
    assert {row["cluster_id"] for row in mirror.rows()} == {"eu-1", "eu-2"}


def test_a_lost_checkpoint_is_made_again_from_the_log(
    mirror: Mirror,
    broker: EmbeddedBroker,
    admin: KafkaAdminClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It goes between the two tables. Meanwhile the topic loses what it had of one group, and then is made anew."""
    topic = new_topic(admin, "mirror-lost", 2)
    damaged = (commit(1)[0], b"\x00\x09")
    produce(broker, topic, [commit(1), commit(2, "refunds"), damaged, commit(3)], partition=0)
    with monkeypatch.context() as faults:
        faults.setattr(Writer, "append_once", disk_full_at(DEAD_LETTERS, 0, Writer.append_once))
        with pytest.raises(Exception, match="the disk is full"):
            mirror.run(topic)
    rmtree(mirror.settings.job.checkpoint_location)
    admin.delete_records({TopicPartition(topic, 0): 2})
    produce(broker, topic, [commit(4)], partition=0)
    produce(broker, topic, [commit(5, "payouts")], partition=1)
    mirror.run(topic)

    assert told(mirror.rows()) == [
        (0, "billing", 1, "mirrored", False, 0),
        (0, "refunds", 2, "mirrored", False, 1),
        (0, "billing", None, "mirrored", False, 2),
        (0, "billing", 3, "mirrored", False, 3),
        (2, "refunds", None, "mirrored", True, None),
        (2, "billing", 4, "mirrored", False, 4),
        (2, "payouts", 5, "mirrored", False, 0),
    ]
    [letter] = mirror.rows("dead_letters")
    assert place_of(letter) == (1, 0, 2)
    assert (letter["key"], letter["value"]) == damaged
    assert letter["reason"] == "OffsetCommitValue: version: 9 is not in 0-4"

    rmtree(mirror.settings.job.checkpoint_location)
    admin.delete_topics([topic])
    new_topic(admin, topic, 1)
    with pytest.raises(JobRefusedError, match="none of them is of the topic that is there now"):
        mirror.run(topic)


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


def test_groups_of_real_clients_are_in_the_tables_until_a_signal(
    mirror: Mirror, broker: EmbeddedBroker, admin: KafkaAdminClient
) -> None:
    """The topic is internal: Spark's usual way to look for offsets would find nothing in it."""
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


def test_in_a_catalog_the_ends_of_topics_are_sampled_by_spark(
    mirror: Mirror,
    broker: EmbeddedBroker,
    admin: KafkaAdminClient,
    spark: SparkSession,
    in_a_catalog: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Spark's first look at ten tables takes as long as all the rest, and these have been made a moment ago.
    monkeypatch.setattr("group_coordinator.job.mirror.prepare_tables", lambda *_: None)
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
    with pytest.raises(JobRefusedError, match="topic nothing-here is not there at"):
        mirror.run("nothing-here")


def told(rows: Iterable[dict[str, Any]]) -> list[tuple[Any, ...]]:
    names = ("batch_id", "group_id", "offset", "reason", "inferred", "source_offset")
    ordered = sorted(rows, key=lambda row: (row["batch_id"], row["seq"]))
    return [tuple(row[name] for name in names) for row in ordered]


def test_of_a_topic_that_was_made_anew_only_what_it_has_now_is_left(
    mirror: Mirror, broker: EmbeddedBroker, admin: KafkaAdminClient
) -> None:
    """A message that nobody can read is nothing that the topic could have no more."""
    topic = new_topic(admin, "mirror-anew", 1)
    damaged = (commit(1)[0], b"\x00\x09")
    produce(broker, topic, [commit(1), damaged, commit(2, "refunds")], partition=0)
    mirror.run(topic)
    admin.delete_topics([topic])
    new_topic(admin, topic, 1)
    produce(broker, topic, [commit(5)], partition=0)
    mirror.run(topic, MirrorOptions(drain=True, with_compaction=True))
    produce(broker, topic, [commit(6)], partition=0)
    mirror.run(topic, MirrorOptions(drain=True, with_compaction=True))

    assert told(mirror.rows()) == [
        (0, "billing", 1, "mirrored", False, 0),
        (0, "billing", None, "mirrored", False, 1),
        (0, "refunds", 2, "mirrored", False, 2),
        (1, "refunds", None, "mirrored", True, None),
        (1, "billing", 5, "mirrored", False, 0),
        (2, "billing", 6, "mirrored", False, 1),
    ]
    offsets = [(row["group_id"], row["committed_offset"]) for row in mirror.rows("offsets")]
    assert offsets == [("billing", 6)]


def test_what_went_unread_is_looked_for_and_what_is_there_stays(
    mirror: Mirror, broker: EmbeddedBroker, admin: KafkaAdminClient
) -> None:
    """Records are deleted before they are read; later nobody has read for longer than tombstones stay: here for no time."""
    topic = new_topic(admin, "mirror-gap", 1, delete_retention_ms="0")
    produce(broker, topic, [commit(1), commit(2, "refunds"), commit(3, "payouts")], partition=0)
    mirror.run(topic)
    produce(broker, topic, [commit(4), commit(5, "payouts"), commit(6, "refunds")], partition=0)
    admin.delete_records({TopicPartition(topic, 0): 5})
    mirror.run(topic)
    mirror.run(topic)
    produce(broker, topic, [commit(7, "refunds")], partition=0)
    mirror.run(topic)

    assert told(mirror.rows()) == [
        (0, "billing", 1, "mirrored", False, 0),
        (0, "refunds", 2, "mirrored", False, 1),
        (0, "payouts", 3, "mirrored", False, 2),
        (1, "billing", None, "mirrored", True, None),
        (1, "payouts", None, "mirrored", True, None),
        (1, "refunds", 6, "mirrored", False, 5),
        (2, "refunds", 7, "mirrored", False, 6),
    ]
