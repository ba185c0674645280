"""Runs of the mirror of a topic on a real broker, and messages for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from confluent_kafka import Producer
from deltalake import DeltaTable
from kafka import KafkaAdminClient
from kafka.admin import NewTopic
from pyspark.sql import SparkSession

from group_coordinator.codecs.offsets_topic import encode_entry
from group_coordinator.codecs.records.record_types import Key, LogEntry, RecordValue
from group_coordinator.driver.mirror.run import MirrorOptions, mirror_settings, run_mirror
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.settings import Settings
from group_coordinator.tables.definition import TableDefinition
from group_coordinator.tables.writer import Writer
from tests.support.message_batches import Bytes

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


def new_topic(admin: KafkaAdminClient, name: str, partitions: int, **configs: str) -> str:
    """The messages here are of 1970: by default the broker would remove them at its first look."""
    kept = {"retention.ms": "-1"} | {key.replace("_", "."): value for key, value in configs.items()}
    topic = NewTopic(name, partitions, 1, topic_configs=kept)
    admin.create_topics([topic], wait_for_metadata=True)
    return name


def produce(
    broker: EmbeddedBroker, topic: str, messages: Iterable[Bytes], partition: int, **options: str
) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, **options})
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
    return encode_entry(LogEntry(key, RecordValue(version=3, data=says)))


def place_of(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("batch_id", "source_partition", "source_offset"))


def disk_full_at(
    wanted: TableDefinition, batch_id: int, append_once: Callable[..., None]
) -> Callable[..., None]:
    """append_once as it is where the disk has no room for this batch of a table."""

    def or_fail(writer: Writer, rows: Any, table: TableDefinition, batch: int) -> None:
        if (table, batch) == (wanted, batch_id):
            raise OSError("the disk is full")
        append_once(writer, rows, table, batch)

    return or_fail
