"""The mirror by polls of a real broker: commits, deletions and a lost checkpoint; every kind of group: test_mirror_like_kafkas_tool.py."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaAdminClient, OffsetAndMetadata, TopicPartition
from kafka.errors import CoordinatorNotAvailableError, NoError
from pyspark.sql import SparkSession

from group_coordinator.clients import sql_tables
from group_coordinator.driver.mirror.run import MirrorOptions, mirror_settings, run_mirror
from group_coordinator.local import broker
from group_coordinator.local.broker import EmbeddedBroker, free_ports
from group_coordinator.mirror.admin_source import ADMIN
from group_coordinator.settings import Settings
from tests.spark.mirror_stage import new_topic
from tests.support.until import until

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

ORDERS = TopicPartition("orders", 0)
POLL = MirrorOptions(drain=True, with_compaction=True, by_polls=True)


@pytest.fixture
def admin() -> Iterator[KafkaAdminClient]:
    """Of a broker of its own: a poll shows every group."""
    with (
        EmbeddedBroker() as broker,
        closing(KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)) as client,
    ):
        new_topic(client, ORDERS.topic, 1)
        until(lambda: can_commit(client), seconds=60, awaited="the broker's coordinator")
        yield client


def can_commit(admin: KafkaAdminClient) -> bool:
    """Kafka makes its offsets topic when it is first asked for."""
    try:
        found = admin.alter_group_offsets("billing", {ORDERS: OffsetAndMetadata(5, "", -1)})
    except CoordinatorNotAvailableError:
        return False
    return found == {ORDERS: NoError}


class Polls:
    def __init__(self, spark: SparkSession, configured: Settings, admin: KafkaAdminClient) -> None:
        servers = admin.config["bootstrap_servers"]
        job = replace(configured.job, bootstrap_servers=servers, cluster_id="eu-1")
        self.settings = mirror_settings(replace(configured, job=job), ADMIN)
        self._spark = spark

    def poll(self) -> None:
        run_mirror(self.settings, set(), lambda: self._spark, POLL)

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        found = sql_tables.rows(self.settings.job.tables_root, query)
        return [tuple(row.values()) for row in found]

    def log(self) -> list[tuple[Any, ...]]:
        return self.ask(
            'SELECT batch_id, group_id, record_type, "offset", reason, inferred, source_topic, source_offset '
            "FROM coordinator_log ORDER BY batch_id, group_id, seq"
        )


def commit(admin: KafkaAdminClient, group: str, offset: int) -> None:
    changed = {ORDERS: OffsetAndMetadata(offset, "", -1)}
    until(
        lambda: admin.alter_group_offsets(group, changed) == {ORDERS: NoError},
        seconds=60,
        awaited="the commit",
    )


def test_differences_of_polls_are_rows_once_even_after_a_lost_checkpoint(
    spark: SparkSession,
    configured: Settings,
    admin: KafkaAdminClient,
    caplog: pytest.LogCaptureFixture,
) -> None:
    polls = Polls(spark, configured, admin)
    commit(admin, "audit", 7)
    polls.poll()
    assert polls.log() == [
        (0, "audit", 1, 7, "observed", False, None, None),
        (0, "billing", 1, 5, "observed", False, None, None),
    ]
    # A lag needs ends of the log that are later than the commit.
    assert polls.ask(
        "SELECT (SELECT max(sampled_at) FROM topic_positions) > (SELECT max(event_time) FROM coordinator_log)"
    ) == [(True,)]
    polls.poll()
    assert len(polls.log()) == 2

    commit(admin, "billing", 6)
    admin.delete_groups(["audit"])
    shutil.rmtree(Path(polls.settings.job.checkpoint_location) / "mirror")
    with caplog.at_level(logging.WARNING, "group_coordinator"):
        polls.poll()

    assert [message for message in caplog.messages if "is lost" in message] == [
        f"checkpoint {polls.settings.job.checkpoint_location}/mirror is lost: the next poll is compared with the log"
    ]
    assert [row[1:] for row in polls.log()[2:]] == [
        ("audit", 1, None, "group-deleted", True, None, None),
        ("audit", 2, None, "group-deleted", True, None, None),
        ("billing", 1, 6, "observed", False, None, None),
    ]
    assert polls.ask("SELECT group_id, committed_offset FROM offsets") == [("billing", 6)]


def test_offsets_that_went_with_their_topic_have_this_reason(
    spark: SparkSession, configured: Settings, admin: KafkaAdminClient
) -> None:
    polls = Polls(spark, configured, admin)
    polls.poll()

    admin.delete_topics([ORDERS.topic])
    until(
        lambda: not admin.list_group_offsets("billing")["billing"],
        seconds=60,
        awaited="the end of its offsets",
    )
    polls.poll()

    assert [row[1:6] for row in polls.log()] == [
        ("billing", 1, 5, "observed", False),
        ("billing", 1, None, "topic-deleted", True),
        ("billing", 2, None, "group-expired", True),
    ]


def test_another_cluster_at_the_address_is_logged(
    spark: SparkSession,
    configured: Settings,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    [port] = free_ports(1)
    other = "4L6g3nShT-eMCtK--X86sw"
    for cluster_id in (broker._CLUSTER_ID, other):  # noqa: SLF001 - brokers of the tests have one id
        monkeypatch.setattr(broker, "_CLUSTER_ID", cluster_id)
        with (
            EmbeddedBroker(port=port) as started,
            closing(KafkaAdminClient(bootstrap_servers=started.bootstrap_servers)) as client,
        ):
            polls = Polls(spark, configured, client)
            for _ in range(2):
                polls.poll()

    [logged] = [message for message in caplog.messages if "the cluster with the id" in message]
    assert logged == (
        f"127.0.0.1:{port} is now the cluster with the id {other}, and was GroupCoordinatorLocalA: groups that it lacks end in the "
        "tables, as if they were deleted. To keep the clusters apart, mirror this one under another name, by --cluster"
    )
