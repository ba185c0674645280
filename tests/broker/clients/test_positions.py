"""`positions` on a real broker: records, deleted records, an open transaction; topics that come and go."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest
from click.testing import CliRunner
from kafka import KafkaAdminClient, KafkaProducer, TopicPartition
from kafka.admin import NewTopic

from group_coordinator import settings
from group_coordinator.cli.main import main
from group_coordinator.clients import sql_tables
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.positions import PositionSampler
from group_coordinator.clients.cluster.topics import topic_id
from group_coordinator.driver.positions import PositionRounds, tables_in_folder
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.tables.creation import SAMPLED
from group_coordinator.tables.position import ShareOffset
from group_coordinator.tables.topic_ids import TOPIC_IDS, topic_names_in
from tests.broker.clients.java_clients import console_share_consumer
from tests.broker.clients.kafka_tool import kafka_share_groups
from tests.support.until import until

pytestmark = pytest.mark.kafka

ORDERS, REFUNDS, LATER = "positions-orders", "positions-refunds", "positions-later"
PICKERS, PARCELS = "positions-pickers", "positions-parcels"


@pytest.fixture
def tables(tmp_path: Path) -> str:
    for table in SAMPLED:
        table.create_on_disk(tmp_path / table.name)
    return str(tmp_path)


@pytest.fixture
def seller(broker: EmbeddedBroker, kafka_admin: KafkaAdminClient) -> Iterator[KafkaProducer]:
    """It has sold five orders, of which the first two were deleted, and three more in a transaction that is open."""
    topics = [NewTopic(ORDERS, 2, 1), NewTopic(REFUNDS, 1, 1)]
    kafka_admin.create_topics(topics, wait_for_metadata=True)
    options = {"bootstrap_servers": broker.bootstrap_servers}
    with closing(KafkaProducer(**options)) as producer:
        sell(producer, 5)
    kafka_admin.delete_records({TopicPartition(ORDERS, 0): 2})
    with closing(KafkaProducer(**options, transactional_id=ORDERS)) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        sell(producer, 3)
        yield producer


def sell(producer: KafkaProducer, count: int) -> None:
    for sent in [producer.send(ORDERS, b"order", partition=0) for _ in range(count)]:
        sent.get(30)


def newest(tables: str) -> list[tuple[object, ...]]:
    rows = sql_tables.rows(
        tables,
        "SELECT cluster_id, topic, partition, log_start_offset, log_end_offset, last_stable_offset "
        "FROM topic_positions WHERE sampled_at = (SELECT max(sampled_at) FROM topic_positions) "
        "AND (starts_with(topic, 'positions-') OR starts_with(topic, '__')) ORDER BY topic, partition",
    )
    return [tuple(row.values()) for row in rows]


def test_each_round_has_what_is_there(
    broker: EmbeddedBroker, kafka_admin: KafkaAdminClient, seller: KafkaProducer, tables: str
) -> None:
    job = replace(settings.load().job, tables_root=tables, cluster_id="eu-1")
    with closing(PositionSampler(Connection(broker.bootstrap_servers), None)) as sampler:
        rounds = PositionRounds(job, sampler, tables_in_folder(job))
        rounds.run_alone()
        assert newest(tables) == [
            ("eu-1", ORDERS, 0, 2, 8, 5),
            ("eu-1", ORDERS, 1, 0, 0, 0),
            ("eu-1", REFUNDS, 0, 0, 0, 0),
        ]

        seller.commit_transaction()
        kafka_admin.create_topics([NewTopic(LATER, 1, 1)], wait_for_metadata=True)
        kafka_admin.create_partitions({REFUNDS: 2})
        kafka_admin.delete_topics([ORDERS])
        until(
            lambda: (
                ORDERS not in kafka_admin.list_topics()
                and len(kafka_admin.describe_topics([REFUNDS])[0]["partitions"]) == 2
            ),
            seconds=30,
            awaited="the change of the topics",
        )
        rounds.run_alone()
        assert newest(tables) == [
            ("eu-1", LATER, 0, 0, 0, 0),
            ("eu-1", REFUNDS, 0, 0, 0, 0),
            ("eu-1", REFUNDS, 1, 0, 0, 0),
        ]
        names = topic_names_in(f"{tables}/{TOPIC_IDS.name}", "eu-1")
        assert {ORDERS, REFUNDS, LATER} <= set(names.values())
        [described] = kafka_admin.describe_topics([REFUNDS])
        assert names[topic_id(described)] == REFUNDS


@pytest.mark.usefixtures("cluster_topics")
def test_it_samples_until_it_is_told_to_end(
    broker: EmbeddedBroker, tables: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])

    def has_rows() -> bool:
        return bool(sql_tables.rows(tables, "SELECT 1 FROM topic_positions"))

    def end_it() -> None:
        until(has_rows, seconds=30, awaited="a sample")
        os.kill(os.getpid(), signal.SIGTERM)

    ending = Thread(target=end_it)
    ending.start()
    arguments = ["--topic", "orders", "--topic", "nowhere", "--every", "3600"]
    where = ["--bootstrap-server", broker.bootstrap_servers, "--set", f"tables.root={tables}"]
    ended = CliRunner().invoke(main, ["positions", *arguments, *where, "--cluster", "eu-1"])
    ending.join()

    assert (ended.exit_code, ended.stdout) == (0, "")
    [told] = ended.stderr.splitlines()
    assert told.endswith(" WARNING partitions sampled: 6; UNKNOWN_TOPIC_OR_PARTITION: nowhere")
    sampled = sql_tables.rows(
        tables,
        "SELECT cluster_id, topic, count(*) AS partitions, sum(log_end_offset) AS records "
        "FROM topic_positions GROUP BY cluster_id, topic",
    )
    assert sampled == [
        {"cluster_id": "eu-1", "topic": "orders", "partitions": 6, "records": 24},
    ]


def test_share_groups_have_the_offsets_and_lags_of_kafkas_tool(
    broker: EmbeddedBroker, kafka_admin: KafkaAdminClient
) -> None:
    """A group reads what is written from its beginning on; of the second partition it has finished nothing."""
    servers = broker.bootstrap_servers
    kafka_admin.create_topics([NewTopic(PARCELS, 2, 1)], wait_for_metadata=True)
    with (
        closing(PositionSampler(Connection(servers), [PARCELS])) as sampler,
        closing(KafkaProducer(bootstrap_servers=servers)) as producer,
    ):

        def sampled() -> list[ShareOffset]:
            return list(sampler.sample().share_offsets)

        def pack(count: int) -> None:
            for sent in [producer.send(PARCELS, b"parcel", partition=0) for _ in range(count)]:
                sent.get(30)

        def has_finished_all() -> bool:
            # A member begins at the end that it finds, so records follow until it has read some.
            pack(1)
            [first, _] = sampled() or [None, None]
            return first is not None and bool(first.start_offset)

        with console_share_consumer(servers, PICKERS, PARCELS):
            until(has_finished_all, seconds=60, awaited="records that the share group has finished")
            until(lambda: sampled()[0].lag == 0, seconds=30, awaited="the rest")
        pack(3)
        said = kafka_share_groups(servers, "--describe", "--group", PICKERS, "--offsets").out

        first, second = sampled()
        assert (first.start_offset or 0) > 0
        assert first == ShareOffset(PICKERS, PARCELS, 0, first.start_offset, 0, 3)
        assert second == ShareOffset(PICKERS, PARCELS, 1, None, 0, None)
        assert [line.split() for line in said.splitlines() if line] == [
            ["GROUP", "TOPIC", "PARTITION", "START-OFFSET", "LAG"],
            [PICKERS, PARCELS, "0", str(first.start_offset), "3"],
            [PICKERS, PARCELS, "1", "-", "-"],
        ]
