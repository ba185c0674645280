"""`restore` at real brokers: groups of a mirrored cluster, seen by Kafka's own API, and groups of another cluster."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

import confluent_kafka
import pytest
from click.testing import CliRunner, Result
from kafka import KafkaAdminClient, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.admin import NewTopic

from group_coordinator.cli.main import main
from group_coordinator.clients.cluster.cluster import Cluster, offsets_by_timestamp
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.tables.compaction.rows import GroupKey
from tests.broker.clients.conftest import await_group_coordinator
from tests.broker.clients.java_clients import console_share_consumer
from tests.support.claims import claimed_by_mirror
from tests.support.mirrored_log import MirroredLog, tables_of_mirror
from tests.support.until import until

pytestmark = pytest.mark.kafka

GROUP, TOPIC = "restored", "restored-orders"
FIRST, SECOND = TopicPartition(TOPIC, 0), TopicPartition(TOPIC, 1)
HEADINGS = "group_id,topic,partition,offset_now,offset_then,new_offset,written,note"
THEN = {FIRST: OffsetAndMetadata(5, "page 5", 0), SECOND: OffsetAndMetadata(1, "page 1", 0)}
RESET = {FIRST: OffsetAndMetadata(3, "", -1), SECOND: OffsetAndMetadata(0, "", -1)}
START_MS = time.time_ns() // 1_000_000 - 3_600_000
"""Timestamp of the first record: an hour ago."""
Run = Callable[[str], Result]


def produce(broker: EmbeddedBroker, one: TopicPartition, *seconds: int) -> None:
    """Append a record for each of these times after START_MS."""
    with closing(KafkaProducer(bootstrap_servers=broker.bootstrap_servers)) as producer:
        for second in seconds:
            at_ms = START_MS + 1_000 * second
            producer.send(one.topic, b"x", partition=one.partition, timestamp_ms=at_ms)


@pytest.fixture(scope="module")
def orders(broker: EmbeddedBroker, kafka_admin: KafkaAdminClient) -> None:
    """Offsets 0 to 6 in the first partition, 2 to 6 in the second, whose beginning is deleted."""
    kafka_admin.create_topics([NewTopic(TOPIC, 3, 1)])
    for one in (FIRST, SECOND):
        produce(broker, one, *range(6))
    kafka_admin.delete_records({SECOND: 2})


def commit(log: MirroredLog, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
    """Records of one OffsetCommit, which have the same time."""
    at_ms = log.now_ms
    for one, committed in offsets.items():
        log.now_ms = at_ms
        more = {"metadata": committed.metadata, "leaderEpoch": committed.leader_epoch}
        log.commit(one.topic, one.partition, committed.offset, **more)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A mirror has read a commit, and a second later a reset."""
    root = tmp_path_factory.mktemp("restored")
    log = MirroredLog(key=GroupKey("eu-1", GROUP))
    commit(log, THEN)
    commit(log, RESET)
    tables_of_mirror(root, log, {})
    claimed_by_mirror(root, "eu-1")
    return root


@pytest.fixture
def run(broker: EmbeddedBroker, tables: Path) -> Run:
    def command(line: str) -> Result:
        arguments = [
            *("restore", "--group", GROUP, "--cluster", "eu-1", "--tables", str(tables)),
            *("--bootstrap-server", broker.bootstrap_servers, "--format", "csv"),
            *shlex.split(line),
        ]
        return CliRunner().invoke(main, arguments, catch_exceptions=False)

    return command


@pytest.fixture
def _reset(kafka_admin: KafkaAdminClient, orders: None) -> None:  # noqa: ARG001
    """By Kafka's own API: the mirror has read it."""
    kafka_admin.alter_group_offsets(GROUP, RESET)


def offsets(admin: KafkaAdminClient) -> dict[TopicPartition, OffsetAndMetadata]:
    found: dict[TopicPartition, OffsetAndMetadata] = admin.list_group_offsets(GROUP)[GROUP]
    return found


@pytest.mark.usefixtures("_reset")
def test_a_reset_by_kafkas_api_is_undone(run: Run, kafka_admin: KafkaAdminClient) -> None:
    shown = run("--before-reset")
    assert shown.stdout.splitlines() == [
        HEADINGS,
        f"{GROUP},{TOPIC},0,3,5,5,false,",
        f"{GROUP},{TOPIC},1,0,1,2,false,before the log's start: the first record that is left",
    ]
    assert offsets(kafka_admin) == RESET

    undone = run("--before-reset --execute")

    assert undone.stdout == shown.stdout.replace("false", "true")
    assert (undone.exit_code, undone.stderr) == (
        0,
        f"{GROUP}: as of 1970-01-01 00:00:01.999Z, before a rewind of 2 partitions by a principal that the tables do not know\n",
    )
    restored = {FIRST: THEN[FIRST], SECOND: OffsetAndMetadata(2, "", -1)}
    assert offsets(kafka_admin) == restored

    again = run("--before-reset --execute")
    assert again.stdout.splitlines()[1:] == [
        f"{GROUP},{TOPIC},0,5,5,5,false,unchanged",
        f"{GROUP},{TOPIC},1,2,1,2,false,before the log's start: the first record that is left; unchanged",
    ]
    assert offsets(kafka_admin) == restored


@pytest.mark.usefixtures("_reset")
def test_a_share_group_has_no_offsets_to_restore(
    broker: EmbeddedBroker, run: Run, kafka_admin: KafkaAdminClient
) -> None:
    def is_listed() -> bool:
        return "pickers" in {each["group_id"] for each in kafka_admin.list_groups()}

    with console_share_consumer(broker.bootstrap_servers, "pickers", TOPIC):
        until(is_listed, seconds=60, awaited="the share group")
        result = run("--group pickers --as-of 2024-01-02 --execute")

    assert (result.exit_code, result.output) == (
        1,
        "Error: 'pickers' is a share group, which has no committed offsets: kafka-share-groups.sh resets its start offsets\n",
    )
    assert offsets(kafka_admin) == RESET


@pytest.mark.usefixtures("_reset")
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_group_with_a_member_is_left_alone(
    broker: EmbeddedBroker, run: Run, kafka_admin: KafkaAdminClient, protocol: str
) -> None:
    options = {
        "bootstrap.servers": broker.bootstrap_servers,
        "group.id": GROUP,
        "group.protocol": protocol,
        "enable.auto.commit": False,
    }
    with closing(confluent_kafka.Consumer(options)) as member:
        member.subscribe([TOPIC])

        def has_partitions() -> bool:
            member.poll(0.1)
            return bool(member.assignment())

        until(has_partitions, seconds=60, awaited="the member's partitions")
        refused = run("--before-reset --execute")

    assert refused.exit_code == 1
    assert f"Error: {GROUP} is Stable: members would commit over" in refused.stderr
    assert offsets(kafka_admin) == RESET


@pytest.fixture(scope="module")
def standby() -> Iterator[EmbeddedBroker]:
    """Another cluster: its first partition lacks the first two records and has one more, its second has the records 0 to 2."""
    with EmbeddedBroker() as broker:
        with closing(KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)) as admin:
            admin.create_topics([NewTopic(TOPIC, 3, 1)])
        produce(broker, FIRST, 2, 3, 4, 5, 9)
        produce(broker, SECOND, 0, 1, 2)
        await_group_coordinator(broker)
        yield broker


@pytest.mark.usefixtures("orders")
def test_a_standby_has_the_offsets_of_the_same_records(run: Run, standby: EmbeddedBroker) -> None:
    to = f"--before-reset --to-bootstrap-server {standby.bootstrap_servers}"

    same = run(f"{to} --map same")
    assert same.stdout.splitlines()[1:] == [
        f"{GROUP},{TOPIC},0,,5,5,false,",
        f"{GROUP},{TOPIC},1,,1,1,false,",
    ]
    mapped = run(f"{to} --map timestamp --execute")

    # The record 5 has the offset 3 there; the record 2 is the first that is left, and has the offset 2.
    assert mapped.stdout.splitlines()[1:] == [
        f"{GROUP},{TOPIC},0,,5,3,true,",
        f"{GROUP},{TOPIC},1,,1,2,true,",
    ]
    with closing(KafkaAdminClient(bootstrap_servers=standby.bootstrap_servers)) as admin:
        assert offsets(admin) == {
            FIRST: OffsetAndMetadata(3, "page 5", -1),
            SECOND: OffsetAndMetadata(2, "page 1", -1),
        }


def test_an_offset_behind_the_last_record_becomes_one_behind_the_same_record(
    broker: EmbeddedBroker, standby: EmbeddedBroker
) -> None:
    """Also where a transaction marker is behind it, which no consumer sees."""
    ended, in_transaction, empty = (TopicPartition("restored-ends", number) for number in range(3))
    for each in (broker, standby):
        with closing(KafkaAdminClient(bootstrap_servers=each.bootstrap_servers)) as admin:
            admin.create_topics([NewTopic(ended.topic, 3, 1)])
    produce(broker, ended, 0, 1)
    produce(standby, ended, 1, 4)
    produce(standby, in_transaction, 0)
    produce(standby, empty, 0)
    options = {"bootstrap_servers": broker.bootstrap_servers, "transactional_id": "restored"}
    with closing(KafkaProducer(**options)) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(in_transaction.topic, b"x", partition=1, timestamp_ms=START_MS)
        producer.commit_transaction()

    with closing(Cluster(Connection(standby.bootstrap_servers))) as target:
        source = Connection(broker.bootstrap_servers)
        offsets = {ended: 2, in_transaction: 1, empty: 0}
        assert offsets_by_timestamp(source, target, offsets) == {ended: 1, in_transaction: 1}
        assert offsets_by_timestamp(source, target, {}) == {}
