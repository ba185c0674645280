"""Several groups of a mirrored cluster at a real broker: files of their offsets, with Kafka's own tool, and a restore that is killed."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from kafka import KafkaAdminClient, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.admin import NewTopic

from group_coordinator.cli.main import main
from group_coordinator.local.broker import EmbeddedBroker
from tests.broker.clients.kafka_tool import kafka_consumer_groups
from tests.support.claims import claimed_by_mirror
from tests.support.group_history import GroupHistory, tables_of

pytestmark = pytest.mark.kafka

TOPIC = "moved-orders"
FIRST, SECOND, UNREAD = (TopicPartition(TOPIC, number) for number in range(3))
GROUPS = ("moved-a", "moved-b", "moved-c")
OTHER = "moved-other"
LINES = [
    "moved-a,moved-orders,0,1",
    "moved-a,moved-orders,1,2",
    "moved-b,moved-orders,0,2",
    "moved-b,moved-orders,1,3",
    "moved-c,moved-orders,0,3",
    "moved-c,moved-orders,1,4",
]
Offsets = dict[str, dict[TopicPartition, OffsetAndMetadata]]
Run = Callable[..., str]


def at(offset: int) -> OffsetAndMetadata:
    return OffsetAndMetadata(offset, "", -1)


THEN = {
    "moved-a": {FIRST: at(1), SECOND: at(2)},
    "moved-b": {FIRST: at(2), SECOND: at(3)},
    "moved-c": {FIRST: at(3), SECOND: at(4)},
}
NOW = {
    group: {FIRST: at(0), SECOND: at(5), UNREAD: OffsetAndMetadata(4, "kept", 0)}
    for group in (*GROUPS, OTHER)
}
RESTORED = {group: NOW[group] | THEN[group] for group in GROUPS} | {OTHER: NOW[OTHER]}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables of a mirror that has read the offsets of then."""
    histories = [GroupHistory(group, cluster_id="eu-1") for group in GROUPS]
    for history in histories:
        offsets = {
            one.partition: committed.offset
            for one, committed in THEN[history.group.group_id].items()
        }
        history.commit({TOPIC: offsets})
    root = tables_of(tmp_path_factory.mktemp("moved"), *histories)
    claimed_by_mirror(root, "eu-1")
    return root


@pytest.fixture(scope="module")
def topic(broker: EmbeddedBroker, kafka_admin: KafkaAdminClient) -> None:
    """Five records in each partition."""
    kafka_admin.create_topics([NewTopic(TOPIC, 3, 1)])
    producer = KafkaProducer(bootstrap_servers=broker.bootstrap_servers)
    for number in range(15):
        producer.send(TOPIC, b"x", partition=number % 3)
    producer.close()


@pytest.fixture(autouse=True)
def _reset(kafka_admin: KafkaAdminClient, topic: None) -> None:  # noqa: ARG001
    """The groups have other offsets now, and one partition of which the tables know nothing."""
    for group, offsets in NOW.items():
        kafka_admin.alter_group_offsets(group, offsets)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str) -> str:
        done = CliRunner().invoke(main, arguments, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.stdout

    return command


def offsets(admin: KafkaAdminClient) -> Offsets:
    found: Offsets = admin.list_group_offsets([*GROUPS, OTHER])
    return found


def test_kafkas_tool_reads_our_file_and_import_reads_its_file(
    run: Run, broker: EmbeddedBroker, kafka_admin: KafkaAdminClient, tables: Path
) -> None:
    servers = broker.bootstrap_servers
    scope = [option for group in GROUPS for option in ("--group", group)]
    run("export", "--cluster", "eu-1", "--tables", str(tables), "--output", "ours.csv")
    assert Path("ours.csv").read_text().splitlines() == LINES

    kafka_consumer_groups(
        servers, "--reset-offsets", *scope, "--from-file", "ours.csv", "--execute"
    )
    assert offsets(kafka_admin) == RESTORED

    exported = kafka_consumer_groups(
        servers,
        *("--reset-offsets", *scope, "--topic", f"{TOPIC}:0,1", "--to-current", "--export"),
        "--dry-run",
    )
    assert sorted(filter(None, exported.out.splitlines())) == LINES
    Path("kafka.csv").write_text(exported.out)
    of_one = kafka_consumer_groups(
        servers,
        *("--reset-offsets", "--group", OTHER, "--topic", f"{TOPIC}:0,1", "--to-earliest"),
        *("--export", "--dry-run"),
    )
    Path("one.csv").write_text(of_one.out)
    for group, before in NOW.items():
        kafka_admin.alter_group_offsets(group, before)

    to = ("--to-bootstrap-server", servers, "--execute", "--format", "csv")
    imported = run("import", "--input", "kafka.csv", *to)
    assert imported.splitlines()[1:4] == [
        "moved-a,moved-orders,0,0,1,1,true,",
        "moved-a,moved-orders,1,5,2,2,true,",
        "moved-a,moved-orders,2,4,,4,false,is not in the file: stays as it is",
    ]
    assert offsets(kafka_admin) == RESTORED
    run("import", "--input", "one.csv", "--group", OTHER, *to)
    earliest = {OTHER: NOW[OTHER] | {FIRST: at(0), SECOND: at(0)}}
    assert offsets(kafka_admin) == RESTORED | earliest


def test_a_parquet_file_is_imported_without_tables(
    run: Run, broker: EmbeddedBroker, kafka_admin: KafkaAdminClient, tables: Path
) -> None:
    run("export", "--cluster", "eu-1", "--tables", str(tables), "--output", "ours.parquet")

    run(
        *("import", "--input", "ours.parquet", "--execute"),
        *("--tables", "none", "--to-bootstrap-server", broker.bootstrap_servers),
    )

    assert offsets(kafka_admin) == RESTORED


KILLED_BEFORE_THE_SECOND_GROUP = """
import os, signal
from group_coordinator.cli.main import main
from group_coordinator.clients.restore import KafkaGroups

commit = KafkaGroups.commit

def first_alone(groups, group_id, offsets):
    if group_id == "moved-b":
        os.kill(os.getpid(), signal.SIGKILL)
    return commit(groups, group_id, offsets)

KafkaGroups.commit = first_alone
main()
"""


def test_a_restore_that_was_killed_between_groups_is_repeated(
    run: Run, broker: EmbeddedBroker, kafka_admin: KafkaAdminClient, tables: Path
) -> None:
    restore = (
        *("restore", "--cluster", "eu-1", "--tables", str(tables), "--execute"),
        *(option for group in GROUPS for option in ("--group", group)),
        *("--as-of", "1970-01-01T00:00:01Z", "--format", "csv"),
        *("--bootstrap-server", broker.bootstrap_servers),
    )

    killed = subprocess.run(  # noqa: S603 - a fixed program
        [sys.executable, "-c", KILLED_BEFORE_THE_SECOND_GROUP, *restore],
        check=False,
        timeout=120,
    )
    assert killed.returncode == -signal.SIGKILL
    assert offsets(kafka_admin) == NOW | {"moved-a": RESTORED["moved-a"]}

    again = run(*restore)

    assert [line.split(",", 5)[0::5] for line in again.splitlines()[1:]] == [
        ["moved-a", "1,false,unchanged"],
        ["moved-a", "2,false,unchanged"],
        ["moved-a", "4,false,had no offset then: stays as it is"],
        ["moved-b", "2,true,"],
        ["moved-b", "3,true,"],
        ["moved-b", "4,false,had no offset then: stays as it is"],
        ["moved-c", "3,true,"],
        ["moved-c", "4,true,"],
        ["moved-c", "4,false,had no offset then: stays as it is"],
    ]
    assert offsets(kafka_admin) == RESTORED
