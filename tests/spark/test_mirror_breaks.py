"""The mirror where something is missing: its checkpoint, its sole right to write, messages of the topic, the topic itself."""

from __future__ import annotations

from collections.abc import Iterable
from shutil import rmtree
from typing import Any

import pytest
from confluent_kafka import Producer
from kafka import KafkaAdminClient, TopicPartition
from msgspec import json
from pyspark.sql import SparkSession

from group_coordinator.clients import sql_tables
from group_coordinator.codecs.offsets_topic import encode_entry
from group_coordinator.codecs.records.record_types import Key, LogEntry, RecordValue
from group_coordinator.driver.errors import StartUpError
from group_coordinator.driver.mirror.run import MirrorOptions
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.streaming.checkpoint.ownership import CheckpointError, checked_writer
from group_coordinator.tables.failed_events import DEAD_LETTERS
from group_coordinator.tables.writer import Writer
from tests.spark.mirror_stage import Mirror, commit, disk_full_at, new_topic, place_of, produce
from tests.support.message_batches import Bytes

pytestmark = [pytest.mark.spark, pytest.mark.kafka]


def test_a_clusters_rows_have_one_writer(
    mirror: Mirror, broker: EmbeddedBroker, admin: KafkaAdminClient, spark: SparkSession
) -> None:
    topic = new_topic(admin, "mirror-once", 1)
    produce(broker, topic, [commit(1)], partition=0)
    mirror.run(topic)
    elsewhere = f"{mirror.settings.job.checkpoint_location}-elsewhere"

    with pytest.raises(
        StartUpError, match=r"is written by checkpoint .*, from topic mirror-once, and not by"
    ):
        mirror.run(topic, checkpoint_location=elsewhere)
    with pytest.raises(
        CheckpointError, match=r"has no checkpoint, but tables\.root = .* cluster\.id = eu-1: run "
    ):
        checked_writer(spark, mirror.settings.job, lambda: None)
    with pytest.raises(
        StartUpError, match=r"reads topic mirror-once, not mirror-other: .* --cluster"
    ):
        mirror.run(new_topic(admin, "mirror-other", 1))
    mirror.run(topic, cluster_id="eu-2")
    assert {row["cluster_id"] for row in mirror.rows()} == {"eu-1", "eu-2"}


@pytest.mark.parametrize("at_ms", [-((2**63) // 1000) - 1, (2**63 - 1) // 1000 + 1])
def test_a_record_whose_time_spark_cannot_read_is_told(
    mirror: Mirror, broker: EmbeddedBroker, admin: KafkaAdminClient, at_ms: int
) -> None:
    topic = new_topic(
        admin, f"mirror-no-time-{at_ms}", 2, message_timestamp_after_max_ms=str(2**63 - 1)
    )
    for partition in (0, 1):
        produce(broker, topic, [commit(1), commit(2)], partition)
    mirror.run(topic)
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for timestamp in (5, at_ms):
        key, value = commit(3)
        producer.produce(topic, value, key, partition=1, timestamp=timestamp)
        assert producer.flush(30) == 0

    with pytest.raises(StartUpError) as refused:
        mirror.run(topic)

    assert str(refused.value).startswith(
        f"topic {topic} at {broker.bootstrap_servers} has a record in partition 1 at offset 3, of {at_ms} ms, whose "
        "timestamp Spark cannot read: it is not within 9223372036854775 ms of 1970. Write a newer record with its key"
    )


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
    with pytest.raises(StartUpError, match="none of them is from the present topic"):
        mirror.run(topic)


def told(rows: Iterable[dict[str, Any]]) -> list[tuple[Any, ...]]:
    names = ("batch_id", "group_id", "offset", "reason", "inferred", "source_offset")
    ordered = sorted(rows, key=lambda row: (row["batch_id"], row["seq"], row["group_id"]))
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
        (1, "refunds", None, "mirrored", True, None),
        (1, "billing", 5, "mirrored", False, 0),
        (2, "billing", 6, "mirrored", False, 1),
    ]
    offsets = [(row["group_id"], row["committed_offset"]) for row in mirror.rows("offsets")]
    assert offsets == [("billing", 6)]


def test_a_group_that_ended_in_a_gap_has_an_end_and_a_converted_group_has_none(
    mirror: Mirror, broker: EmbeddedBroker, admin: KafkaAdminClient
) -> None:
    topic = new_topic(admin, "mirror-ends", 1)
    name = 'a "quoted" \\ name, ü'
    before = [group("audit"), group("moved"), group("kept"), commit(1, "kept"), commit(2, name)]
    produce(broker, topic, before, partition=0)
    mirror.run(topic)
    admin.delete_topics([topic])
    new_topic(admin, topic, 1)
    epoch = LogEntry(Key(3, {"groupId": "moved"}), RecordValue(version=0, data={"epoch": 8}))
    produce(broker, topic, [encode_entry(epoch), commit(3, "kept")], partition=0)
    mirror.run(topic)

    timeline = (
        "SELECT group_id, what, inferred FROM group_timeline ORDER BY group_id, batch_id, seq"
    )
    found = sql_tables.rows(mirror.settings.job.tables_root, timeline)
    assert [tuple(row.values()) for row in found] == [
        (name, "created", False),
        (name, "deleted", True),
        ("audit", "created", False),
        ("audit", "deleted", True),
        ("kept", "created", False),
        ("moved", "created", False),
        ("moved", "emptied", False),
    ]
    keys = {row["key"] for row in mirror.rows(group_id=name, record_type=2)}
    assert [json.decode(key) for key in keys] == [{"type": 2, "data": {"group": name}}]


def group(name: str) -> Bytes:
    fields = {"protocolType": "consumer", "generation": 7, "protocol": None, "leader": None}
    others = {"currentStateTimestamp": 1_700_000_000_000, "members": []}
    value = RecordValue(version=3, data={**fields, **others})
    return encode_entry(LogEntry(Key(2, {"group": name}), value))


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
        (1, "billing", None, "mirrored", True, None),
        (1, "payouts", None, "mirrored", True, None),
        (1, "refunds", 6, "mirrored", False, 5),
        (2, "refunds", 7, "mirrored", False, 6),
    ]
