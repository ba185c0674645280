"""What the end-to-end tests look at: the topics, the tables, and what should be in them."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import msgspec
from kafka import KafkaConsumer, TopicPartition
from pyspark.sql import SparkSession

from group_coordinator import settings
from group_coordinator.clients import AdminClient
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.coordinator_topics import create_topics
from group_coordinator.clients.sql_tables import query
from group_coordinator.core.deadlines import Outages
from group_coordinator.runtime.outputs import EventRow
from group_coordinator.runtime.update_group import UpdateContext
from group_coordinator.settings import Settings
from group_coordinator.tables.creation import create_tables
from tests.support.group_updates import lines_of, updated
from tests.support.job_process import JobProcess
from tests.support.stores import DISK, Store

Row = dict[str, Any]

SETTINGS = (
    *("events.topic.partitions=2", "responses.topic.partitions=2", "shuffle.partitions=2"),
    *("compaction.interval.ms=1000", "request.timeout.ms=60000"),
    *("offsets.retention.ms=3600000", "offsets.retention.check.interval.ms=60000"),
    # GATEWAY_ANSWERS=job runs every scene with a gateway again, without the replica.
    "gateway.answers=" + os.environ.get("GATEWAY_ANSWERS", "replica"),
)


@dataclass(frozen=True)
class Installation:
    """One cluster and one set of tables."""

    bootstrap_servers: str
    folder: Path
    overrides: tuple[str, ...] = SETTINGS
    store: Store = DISK

    @classmethod
    def named(
        cls,
        name: str,
        bootstrap_servers: str,
        folder: Path,
        overrides: tuple[str, ...] = SETTINGS,
        store: Store = DISK,
    ) -> Self:
        """One with topics of its own, so that others have room on the same broker."""
        topics = (f"events.topic=events-{name}", f"responses.topic=responses-{name}")
        return cls(bootstrap_servers, folder, (*topics, *overrides), store)

    @property
    def options(self) -> list[str]:
        """The options that every command gets."""
        overrides = [option for setting in self.overrides for option in ("--set", setting)]
        return ["--bootstrap-server", self.bootstrap_servers, *overrides]

    @property
    def settings(self) -> Settings:
        return settings.load(
            overrides=[*self.overrides, f"bootstrap.servers={self.bootstrap_servers}"]
        )

    @property
    def tables_root(self) -> str:
        """Its whole address."""
        return self._whole(self.settings.job.tables_root)

    @property
    def checkpoint(self) -> str:
        """Its whole address."""
        return self._whole(self.settings.job.checkpoint_location)

    def _whole(self, location: str) -> str:
        return location if "://" in location else str(self.folder / location)

    def admin(self) -> AdminClient:
        """A client with patience: the job may have to start first."""
        job = self.settings.job
        return AdminClient(
            bootstrap_servers=self.bootstrap_servers,
            events_topic=job.events_topic,
            responses_topic=job.responses_topic,
            tables_root=self.tables_root,
            request_timeout_ms=300_000,
        )

    def rows(self, sql: str) -> list[Row]:
        return query(self.tables_root, sql).to_pylist()

    def records(self, topic: str) -> list[Any]:
        """Everything in a topic, in order of partition and offset."""
        consumer = KafkaConsumer(bootstrap_servers=self.bootstrap_servers, enable_auto_commit=False)
        partitions = [TopicPartition(topic, p) for p in consumer.partitions_for_topic(topic)]
        consumer.assign(partitions)
        consumer.seek_to_beginning()
        ends = consumer.end_offsets(partitions)
        found: list[Any] = []
        while any(consumer.position(partition) < end for partition, end in ends.items()):
            for records in consumer.poll(timeout_ms=500).values():
                found += records
        consumer.close()
        return sorted(found, key=lambda record: (record.partition, record.offset))

    def asked_ids(self) -> set[str]:
        """The ids of all requests that want a response."""
        topic = self.settings.job.events_topic
        return {
            f"{topic}-{record.partition}-{record.offset}"
            for record in self.records(topic)
            if json.loads(record.value)["correlationId"] is not None
        }

    def answers(self) -> dict[str, list[bytes]]:
        """The responses so far, by the id of the request; repeats are allowed if they are equal."""
        found: dict[str, list[bytes]] = defaultdict(list)
        for record in self.records(self.settings.job.responses_topic):
            found[json.loads(record.value)["id"]].append(record.value)
        return found

    def await_batches(self, batches: int, job: JobProcess) -> None:
        """Wait until this many more batches with records are in the log."""
        sql = "SELECT count(DISTINCT batch_id) AS batches FROM coordinator_log"
        wanted = self.rows(sql)[0]["batches"] + batches
        job.until(
            lambda: self.rows(sql)[0]["batches"] >= wanted,
            seconds=300,
            awaited=f"{batches} more batches",
        )

    def expected_lines(self, tag: str) -> list[Row]:
        """What should come out of one kind: every group's events in one call, without Spark."""
        chosen = self.settings
        topic = chosen.job.events_topic
        events: dict[str, list[EventRow]] = defaultdict(list)
        for record in self.records(topic):
            row = EventRow(record.timestamp, record.partition, record.offset, None, record.value)
            events[record.key.decode()].append(row)
        context = UpdateContext(
            chosen.coordinator, topic, 1_000, timers_suspended=True, outages=self._outages()
        )
        lines = [
            line
            for group, rows in sorted(events.items())
            for line in lines_of(updated(group, None, rows, rows[-1].timestamp_ms, context))
        ]
        # Between tag and content an answer may name the partition that it is read in.
        return [json.loads(line[line.index("{") :]) for line in lines if line[0] == tag]

    def _outages(self) -> Outages:
        """Those that the job itself has noticed: no run without faults has them."""
        outages = f"{self.checkpoint}/coordinator/outages"
        numbers = [int(name) for name in self.store.names_in(outages) if name.isdecimal()]
        if not numbers:
            return ()
        return msgspec.json.decode(self.store.read(f"{outages}/{max(numbers)}"), type=Outages)


def installed(made: Installation) -> Installation:
    """Make the topics and the tables, as `init` does."""
    create_topics(Connection(made.bootstrap_servers), made.settings.job)
    create_tables(made.tables_root, SparkSession.builder.getOrCreate)
    return made
