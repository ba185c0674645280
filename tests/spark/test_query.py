"""The coordinator's query on a real Kafka broker, whatever Spark's settings are for other queries."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from functools import partial

import pytest
from kafka import KafkaProducer
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.coordinator_topics import create_topics
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.settings import Settings
from group_coordinator.streaming.batch_gate import BatchGate
from group_coordinator.streaming.checkpoint.layout import coordinator_folder, unplan
from group_coordinator.streaming.coordinator_query import start_query
from group_coordinator.tables.maintenance_work import session_conf
from tests.spark.played import commit
from tests.support.operator_rows import lines_in
from tests.support.until import until

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

RETENTION_MS = 3_000
"""Longer than it takes until a running query has read an event."""
WITHOUT_EMPTY_BATCHES = {"spark.sql.streaming.noDataMicroBatches.enabled": "false"}


def test_deadlines_come_without_events_where_other_queries_have_no_empty_batches(
    spark: SparkSession, configured: Settings, broker: EmbeddedBroker
) -> None:
    job = replace(
        configured.job, bootstrap_servers=broker.bootstrap_servers, events_topic="events-alone"
    )
    kept = replace(
        configured.coordinator,
        offsets_retention_ms=RETENTION_MS,
        offsets_retention_check_interval_ms=100,
    )
    create_topics(Connection(broker.bootstrap_servers), job)
    lines: list[str] = []
    write = partial(take_lines, lines)

    with closing(KafkaProducer(bootstrap_servers=broker.bootstrap_servers)) as producer:
        send(producer, job.events_topic, "first")
        with session_conf(spark, WITHOUT_EMPTY_BATCHES):
            query = start_query(spark, Settings(kept, job), None, write)
        await_record(query, lines, "first", "offset-commit")  # a first batch may take seconds
        send(producer, job.events_topic, "second")
    await_record(query, lines, "second", "offset-expired")
    query.stop()


def test_a_first_batch_that_was_held_is_planned_again(
    spark: SparkSession, configured: Settings, broker: EmbeddedBroker
) -> None:
    job = replace(
        configured.job, bootstrap_servers=broker.bootstrap_servers, events_topic="events-held"
    )
    settings = Settings(configured.coordinator, job)
    create_topics(Connection(broker.bootstrap_servers), job)
    lines: list[str] = []
    write = partial(take_lines, lines)

    with closing(KafkaProducer(bootstrap_servers=broker.bootstrap_servers)) as producer:
        send(producer, job.events_topic, "first")
    gate = BatchGate(write, must_wait=lambda _batch_id: True)
    query = start_query(spark, settings, None, gate)
    until(lambda: gate.is_shut, seconds=120, awaited="batch 0", pause=query.awaitTermination)
    gate.stop(query, spark.sparkContext)
    assert (gate.held_batch, lines) == (0, [])
    unplan(coordinator_folder(spark, job), 0)

    query = start_query(spark, settings, None, write)
    await_record(query, lines, "first", "offset-commit")
    query.stop()


def take_lines(lines: list[str], batch: DataFrame, _batch_id: int) -> None:
    lines.extend(lines_in(batch.collect()))


def send(producer: KafkaProducer, topic: str, group: str) -> None:
    producer.send(topic, key=group.encode(), value=json.dumps(commit(group, 1)).encode()).get(30)


def await_record(query: StreamingQuery, lines: list[str], group: str, reason: str) -> None:
    """Wait until the group's log has a record of this reason."""
    until(
        lambda: any(f'"group_id":"{group}"' in line and reason in line for line in lines),
        seconds=60,
        awaited=lambda: f"{reason} of {group}: {lines}",
        pause=query.awaitTermination,
    )
