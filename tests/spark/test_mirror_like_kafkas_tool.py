"""The tables of a mirrored broker beside what Kafka's own tools say of it: group by group, offset by offset, member by member."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaAdminClient
from pyspark.sql import SparkSession

from group_coordinator.clients import sql_tables
from group_coordinator.driver.mirror.run import MirrorOptions, mirror_settings, run_mirror
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.mirror.admin_source import ADMIN
from group_coordinator.settings import Settings
from tests.broker.clients.java_clients import WORDS
from tests.broker.clients.kafka_tool import kafka_consumer_groups, kafka_streams_groups
from tests.spark.mirrored_clients import ORDERS, REFUNDS, STREAMS, SUBTOPOLOGIES, Clients
from tests.spark.tool_comparison import check_like_the_tools
from tests.support.until import until

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

OFFSETS = "__consumer_offsets"
# Members that are away for a while, as static ones of KIP-848 are when they end, stay to the end.
PATIENT = dict.fromkeys(
    ("group.consumer.max.session.timeout.ms", "group.consumer.session.timeout.ms"), "600000"
)
STATES = "SELECT group_id, group_type, state FROM groups"
STATIC_MEMBERS = """
SELECT group_type, group_instance_id IS NOT NULL, count(*) FROM members own
JOIN groups known ON known.group_id = own.group_id GROUP BY 1, 2 ORDER BY 1, 2
"""
SHARES = """
SELECT count(*), sum(cardinality(assigned_partitions)) FROM members WHERE group_id = 'like-share'
"""


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    """Of its own: the tools say something of every group that is there."""
    with EmbeddedBroker(properties=PATIENT) as started:
        yield started


class Mirrored:
    """Drains of the mirror of a broker, and what the tables say behind them."""

    def __init__(
        self, spark: SparkSession, configured: Settings, broker: EmbeddedBroker, source: str
    ) -> None:
        self._by_polls = source == ADMIN
        job = replace(configured.job, bootstrap_servers=broker.bootstrap_servers, cluster_id="like")
        self._spark = spark
        self._settings = mirror_settings(replace(configured, job=job), source)

    def drain(self) -> None:
        options = MirrorOptions(drain=True, with_compaction=True, by_polls=self._by_polls)
        run_mirror(self._settings, set(), lambda: self._spark, options)

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        answer = sql_tables.query(self._settings.job.tables_root, query)
        return [tuple(row.values()) for row in answer.to_pylist()]


@pytest.mark.parametrize("source", [OFFSETS, ADMIN])
def test_the_tables_are_as_kafkas_tools_say(
    spark: SparkSession,
    configured: Settings,
    broker: EmbeddedBroker,
    tmp_path: Path,
    source: str,
) -> None:
    servers = broker.bootstrap_servers
    mirrored = Mirrored(spark, configured, broker, source)

    def shares() -> list[tuple[Any, ...]]:
        mirrored.drain()
        return mirrored.ask(SHARES)

    with closing(KafkaAdminClient(bootstrap_servers=servers)) as admin:
        clients = Clients(servers, admin)
        clients.fill_topics()
        with ExitStack() as running:
            clients.start_java(running, tmp_path)
            clients.commit("like-simple", 2)
            clients.commit("like-gone", 3)
            admin.delete_groups(["like-gone"])
            clients.commit_in_transactions("like-transactional")
            clients.start_others(running)
            clients.await_java()

            until(lambda: shares() == [(1, 3)], seconds=60, awaited="the member of the share group")
            check(mirrored, clients, servers)
            assert mirrored.ask(STATIC_MEMBERS) == [
                ("classic", True, 4),
                ("consumer", False, 2),
                ("consumer", True, 1),
                ("share", False, 1),
                ("streams", False, 2),
            ]

        clients.await_empty("like-classic", "like-java", "like-python", STREAMS)
        reset_and_delete(servers)
        mirrored.drain()
        check(mirrored, clients, servers)
        assert clients.committed(STREAMS) == mirrored_offsets(mirrored, STREAMS)
    assert mirrored.ask("""
        SELECT group_id, topic, "partition", "before", "after", change FROM audit ORDER BY 1, 2, 3, 6
    """) == [
        ("like-classic", ORDERS, 0, 10, 0, "reset"),
        ("like-classic", ORDERS, 1, 10, 0, "reset"),
        ("like-classic", ORDERS, 2, 10, 0, "reset"),
        # No poll has seen a group that was deleted before the first.
        *[("like-gone", REFUNDS, 0, 3, None, "group-deleted")] * (source == OFFSETS),
        ("like-modern", REFUNDS, 0, 10, None, "deleted"),
        (STREAMS, WORDS, 0, 10, 0, "reset"),
        (STREAMS, WORDS, 1, 10, 0, "reset"),
    ]


def check(mirrored: Mirrored, clients: Clients, servers: str) -> None:
    """Groups, members, offsets and lags are those of the broker."""
    check_like_the_tools(mirrored.ask, servers, SUBTOPOLOGIES)
    assert sorted(mirrored.ask(STATES)) == clients.states()


def reset_and_delete(servers: str) -> None:
    reset = ("--reset-offsets", "--to-earliest", "--execute", "--group")
    kafka_consumer_groups(servers, *reset, "like-classic", "--topic", ORDERS)
    kafka_consumer_groups(servers, "--delete-offsets", "--group", "like-modern", "--topic", REFUNDS)
    kafka_streams_groups(servers, *reset, STREAMS, "--input-topic", WORDS)


def mirrored_offsets(mirrored: Mirrored, group: str) -> dict[tuple[str, int], int]:
    rows = mirrored.ask('SELECT group_id, topic, "partition", committed_offset FROM offsets')
    return {(topic, partition): offset for of, topic, partition, offset in rows if of == group}
