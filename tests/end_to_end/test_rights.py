"""Each program works with exactly its rights of RIGHTS, and `check` names each missing right.

The consequence of a missing right is tested with the cheapest call that needs the right; a run of Spark for each would take minutes.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import click
import confluent_kafka
import pytest
from click.testing import CliRunner, Result
from kafka import KafkaProducer
from kafka.admin import NewTopic
from kafka.errors import KafkaError

from group_coordinator.cli import check, consume, groups, restore
from group_coordinator.clients.cluster.coordinator_topics import TopicsError, create_topics
from group_coordinator.clients.cluster.held_rights import ClusterAcls
from group_coordinator.clients.errors import ClientError
from group_coordinator.codecs.offsets_topic import OFFSETS_TOPIC
from group_coordinator.core.acls import Right
from group_coordinator.driver.checks.rights import RIGHTS, can_be_asked_for, look_at_rights
from group_coordinator.local.broker import LOOPBACK, EmbeddedBroker, free_row
from group_coordinator.offset_reporter.outbox import (
    CoordinatorTarget,
    KafkaTarget,
    OffsetsRejectedError,
    Target,
)
from group_coordinator.tables.compaction.rows import GroupKey
from tests.end_to_end.installation import Installation
from tests.end_to_end.users_by_rights import (
    DEADLINE_S,
    NO_ONE,
    ORDERS,
    ORDERS_0,
    REPORTED,
    VARIABLES,
    commit_at_the_broker,
    confluent_login,
    connection_of,
    in_a_transaction,
    job_of,
    login_options,
    make_offsets_topic,
    row,
    run_kafka_acls,
    user_of,
    users,
)
from tests.support.authorized_broker import (
    ADMIN,
    admin_of,
    allowed,
    authorized_broker,
    create_acls,
    login_of,
)
from tests.support.claims import claimed_by_mirror
from tests.support.job_process import JobProcess
from tests.support.mirrored_log import MirroredLog, tables_of_mirror
from tests.support.rights_page import commands_of

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

CHECKED = [program for program, needs in RIGHTS.items() if can_be_asked_for(needs)]
SETTINGS = ("events.topic.partitions=2", "responses.topic.partitions=2", "shuffle.partitions=2")


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    everyone = users()
    with authorized_broker(everyone) as started:
        with closing(admin_of(started)) as admin:
            admin.create_topics([NewTopic(ORDERS, 2, 1)])
        create_acls(
            started, [allowed(user, right) for user in everyone for right in everyone[user]]
        )
        yield started


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rights")


def process(broker: EmbeddedBroker, folder: Path, program: str, *words: str) -> JobProcess:
    """Run the command as the user with its rights."""
    settings = [word for each in SETTINGS for word in ("--set", each)]
    login = login_options(broker, user_of(program))
    return JobProcess([program, *settings, *login, *words], folder, variables=VARIABLES)


@pytest.fixture(scope="module")
def installed(broker: EmbeddedBroker, folder: Path) -> Path:
    with process(broker, folder, "init") as init:
        assert init.wait(DEADLINE_S) == 0, init.log
    assert "topic group-events: created\ntopic group-responses: created\n" in init.log
    return folder


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("program", CHECKED)
def test_check_names_exactly_the_right_that_is_missing(
    broker: EmbeddedBroker, program: str
) -> None:
    def missing(lacking: int | None) -> list[Right]:
        connection = connection_of(broker, user_of(program, lacking))
        looked = look_at_rights(program, job_of(program, lacking), connection)
        return [each.right for each in looked if not each.is_held]

    assert missing(None) == []
    every = range(len(RIGHTS[program]))
    assert [missing(each) for each in every] == [[row(program, each)[each]] for each in every]


def checked(broker: EmbeddedBroker, program: str, user: str) -> list[str]:
    arguments = ["--for", program, *login_options(broker, user)]
    return CliRunner().invoke(check.command, arguments, env=VARIABLES).output.splitlines()


def test_check_says_how_a_missing_right_is_given(broker: EmbeddedBroker, tmp_path: Path) -> None:
    """Kafka's own tool runs two of the commands; each starts a JVM."""
    kafka_acls = f"kafka-acls.sh --bootstrap-server {broker.bootstrap_servers} --add --allow-principal User:no-one"
    needed, *without = before = checked(broker, "mirror", NO_ONE)

    assert needed == (
        "WRONG  rights             User:no-one lacks READ on TOPIC __consumer_offsets, which `mirror` needs for groups: run "
        f"{kafka_acls} --operation Read --topic __consumer_offsets"
    )
    assert without[1:] == [
        (
            "less   rights             User:no-one lacks DESCRIBE_CONFIGS on CLUSTER kafka-cluster, which `mirror` needs for "
            "`offsets.retention.minutes`; without it forecasts use the setting `offsets.retention.minutes`: run "
            f"{kafka_acls} --operation DescribeConfigs --cluster"
        ),
        (
            "less   rights             User:no-one lacks DESCRIBE on TOPIC *, which `mirror` needs for log ends, lag and deletions of "
            "topics; without it log ends, lag and deletions are unknown for topics that it may not describe: run "
            f"{kafka_acls} --operation Describe --topic '*'"
        ),
    ]
    for line in before[2:]:
        run_kafka_acls(shlex.split(line.partition("kafka-acls.sh")[2]), tmp_path)
    assert checked(broker, "mirror", NO_ONE) == [
        "right  rights             DESCRIBE_CONFIGS on CLUSTER kafka-cluster, DESCRIBE on TOPIC *",
        *before[:2],
    ]


@pytest.mark.parametrize("program", ["run", "mirror", "mirror-admin", "gateway"])
def test_the_commands_of_the_page_grant_exactly_the_rights(
    broker: EmbeddedBroker, program: str, tmp_path: Path
) -> None:
    """Kafka's own tool runs each of them."""
    for line in commands_of(program):
        called, *granted = shlex.split(line)
        assert called == "add"
        servers = ("--bootstrap-server", broker.bootstrap_servers)
        run_kafka_acls([*servers, "--add", "--allow-principal", *granted], tmp_path)

    with closing(ClusterAcls(connection_of(broker, ADMIN))) as acls:
        held = {rule for rule in acls.read() if rule.principal == f"User:{program}"}
    assert held == {allowed(program, right) for right in row(program)}


def test_a_right_that_a_program_can_do_without_is_no_failure(broker: EmbeddedBroker) -> None:
    def status(lacking: int) -> int:
        arguments = ["--for", "mirror", *login_options(broker, user_of("mirror", lacking))]
        return CliRunner().invoke(check.command, arguments, env=VARIABLES).exit_code

    assert [status(lacking) for lacking in range(4)] == [1, 0, 0, 0]


def test_init_needs_each_right_to_make_topics(broker: EmbeddedBroker) -> None:
    def told(lacking: int) -> str:
        connection = connection_of(broker, user_of("init", lacking))
        with pytest.raises((TopicsError, ClientError)) as failure:
            create_topics(connection, job_of("init", lacking))
        return str(failure.value)

    not_made = (
        f"does not exist for this user, and {broker.bootstrap_servers} does not create it: TOPIC_AUTHORIZATION_FAILED (29), "
        "Authorization failed: give the user the ACL CREATE, or DESCRIBE if the topic exists"
    )
    assert [told(lacking) for lacking in range(6)] == [
        f"topic program-0-without-0-events {not_made}",
        f"topic program-0-without-1-responses {not_made}",
        (
            "topic program-0-without-2-events was created, but this user may not see it: give the user DESCRIBE "
            "on the topic"
        ),
        (
            "topic program-0-without-3-responses was created, but this user may not see it: give the user "
            "DESCRIBE on the topic"
        ),
        (
            "topic program-0-without-4-events: this user may not read its configuration: give the user the ACL "
            "DESCRIBE_CONFIGS"
        ),
        (
            "topic program-0-without-5-responses: this user may not read its configuration: give the user the ACL "
            "DESCRIBE_CONFIGS"
        ),
    ]


def test_positions(broker: EmbeddedBroker, installed: Path) -> None:
    with process(broker, installed, "positions", "--topic", ORDERS) as positions:
        assert positions.wait(DEADLINE_S) == 0, positions.log

    sql = "SELECT topic, partition, log_end_offset FROM topic_positions ORDER BY partition"
    assert Installation(broker.bootstrap_servers, installed).rows(sql) == [
        {"topic": ORDERS, "partition": 0, "log_end_offset": 0},
        {"topic": ORDERS, "partition": 1, "log_end_offset": 0},
    ]


def in_process(
    command: click.Command, broker: EmbeddedBroker, user: str, folder: Path, *words: str
) -> Result:
    arguments = [
        *login_options(broker, user),
        "--set",
        f"tables.root={folder}/group-coordinator-tables",
    ]
    return CliRunner().invoke(command, [*arguments, *words], env=VARIABLES)


def test_run_and_those_who_ask_it(broker: EmbeddedBroker, installed: Path) -> None:
    """The job uses the cluster's ACLs; it needs `__consumer_offsets`, which does not exist before."""
    with closing(
        KafkaProducer(bootstrap_servers=broker.bootstrap_servers, **login_of(ADMIN))
    ) as producer:
        for number in range(2):
            producer.send(ORDERS, b"%d" % number, partition=number)
    assert OFFSETS_TOPIC not in topics_of(broker)
    with process(broker, installed, "run", "--set", "acls.source=cluster") as job:
        job.until(
            lambda: OFFSETS_TOPIC in topics_of(broker), seconds=DEADLINE_S, awaited="its topic"
        )
        consume_and_groups(broker, installed)
        offsets_are_reported(broker)
        offsets_of_a_transaction_come_by_the_gateway(broker, installed)
        assert job.stop() == 0, job.log
    a_checkpoint_is_rebuilt(broker, installed)
    assert "may not" not in job.log
    assert "denie" not in job.log


def topics_of(broker: EmbeddedBroker) -> list[str]:
    with closing(admin_of(broker)) as admin:
        found: list[str] = admin.list_topics()
    return found


CONSUMING = (
    *("--topic", ORDERS, "--group", "consumed", "--from-beginning", "--max-messages", "2"),
    *("--consumer-property", "group.protocol=consumer"),
)


def consume_and_groups(broker: EmbeddedBroker, folder: Path) -> None:
    """A group of the new protocol has no partitions until it has the metadata of its topic."""
    consumed = in_process(consume.command, broker, user_of("consume"), folder, *CONSUMING)
    assert (sorted(consumed.stdout.split()), consumed.exit_code) == (["0", "1"], 0), consumed.output

    def grouped(*words: str) -> Result:
        user = user_of("groups")
        return in_process(groups.command, broker, user, folder, "--group", "consumed", *words)

    offsets = [line.split()[:6] for line in grouped("--describe").stdout.splitlines()[-2:]]
    assert offsets == [
        ["consumed", ORDERS, "0", "1", "1", "0"],
        ["consumed", ORDERS, "1", "1", "1", "0"],
    ]
    for words in (
        ("--reset-offsets", "--topic", ORDERS, "--to-earliest", "--execute"),
        ("--delete-offsets", "--topic", ORDERS),
        ("--delete",),
    ):
        done = grouped(*words)
        assert done.exit_code == 0, done.output


TO_THE_BROKERS, TO_THE_COORDINATOR = (
    "OffsetReporter, to the brokers",
    "OffsetReporter, to the coordinator",
)


def offsets_are_reported(broker: EmbeddedBroker) -> None:
    for program in (TO_THE_BROKERS, TO_THE_COORDINATOR):
        with closing(target(broker, program)) as reporter:
            reporter.commit(REPORTED, {ORDERS_0: 1})


def target(broker: EmbeddedBroker, program: str, lacking: int | None = None) -> Target:
    """What an OffsetReporter commits by."""
    user = user_of(program, lacking)
    if program == TO_THE_BROKERS:
        return KafkaTarget(connection_of(broker, user))
    return CoordinatorTarget(
        bootstrap_servers=broker.bootstrap_servers,
        request_timeout_ms=60_000,
        client_options=login_of(user),
    )


def offsets_of_a_transaction_come_by_the_gateway(broker: EmbeddedBroker, folder: Path) -> None:
    """The offsets count when the job has read the transaction marker."""
    port = free_row(4)
    servers = f"{LOOPBACK}:{port}"
    listens = (
        "--set",
        f"gateway.listen={servers}",
        "--set",
        f"gateway.health.listen={LOOPBACK}:{port + 3}",
    )
    with process(broker, folder, "gateway", *listens) as gateway:
        gateway.until(lambda: "in front of" in gateway.log, seconds=DEADLINE_S, awaited="its start")
        options = {**confluent_login(servers), "group.id": "shop"}
        with closing(confluent_kafka.Consumer(options)) as consumer:
            in_a_transaction(servers, consumer, offset=1)
            [read] = consumer.committed([confluent_kafka.TopicPartition(ORDERS, 0)], DEADLINE_S)
        assert read.offset == 1
        assert gateway.stop() == 0, gateway.log


def a_checkpoint_is_rebuilt(broker: EmbeddedBroker, folder: Path) -> None:
    shutil.rmtree(folder / "group-coordinator-checkpoint")
    with process(broker, folder, "rebuild") as rebuild:
        assert rebuild.wait(DEADLINE_S) == 0, rebuild.log


def test_mirror(broker: EmbeddedBroker, tmp_path: Path) -> None:
    commit_at_the_broker(broker)
    with process(broker, tmp_path, "mirror", "--drain") as mirror:
        assert mirror.wait(DEADLINE_S) == 0, mirror.log

    assert "forecasts use the retention of the brokers: 10080 minutes" in mirror.log
    tables = Installation(broker.bootstrap_servers, tmp_path)
    committed = "SELECT \"offset\" FROM coordinator_log WHERE group_id = 'spark-totals' AND topic = 'orders'"
    assert {"offset": 1} in tables.rows(committed)
    sampled = "SELECT DISTINCT topic FROM topic_positions WHERE topic IN ('orders', '__consumer_offsets') ORDER BY topic"
    assert tables.rows(sampled) == [{"topic": OFFSETS_TOPIC}, {"topic": ORDERS}]


def test_restore(broker: EmbeddedBroker, tmp_path: Path) -> None:
    """Kafka's own group, by the tables of a mirror."""
    commit_at_the_broker(broker)
    root = tmp_path / "group-coordinator-tables"
    log = MirroredLog(key=GroupKey("eu-1", REPORTED))
    log.commit(ORDERS, 0, 0)
    tables_of_mirror(root, log, {})
    claimed_by_mirror(root, "eu-1")

    def restored(lacking: int | None) -> tuple[int, str]:
        words = ("--group", REPORTED, "--cluster", "eu-1", "--as-of", "2000-01-01", "--execute")
        user = user_of("restore, of a mirrored cluster", lacking)
        done = in_process(restore.command, broker, user, tmp_path, *words, "--format", "csv")
        return done.exit_code, done.output

    status, without_group = restored(0)
    assert (status, "GroupAuthorizationFailedError" in without_group) == (1, True)
    status, without_topic = restored(1)
    assert (status, "false,the topic is hidden from this user" in without_topic) == (1, True)
    status, restored_row = restored(None)
    assert (status, f"{REPORTED},{ORDERS},0,1,0,0,true," in restored_row) == (0, True)


def test_who_asks_the_job_needs_each_right(broker: EmbeddedBroker, installed: Path) -> None:
    hidden = (
        "does not exist, or this user may not see it: run `group-coordinator init`, or give the user DESCRIBE on the topic; "
        "a gateway hides the topic: connect to the brokers themselves"
    )

    def reported(program: str, lacking: int) -> str:
        with (
            closing(target(broker, program, lacking)) as reporter,
            pytest.raises((OffsetsRejectedError, ClientError, KafkaError)) as failure,
        ):
            reporter.commit(REPORTED, {ORDERS_0: 1})
        return str(failure.value)

    assert [reported(TO_THE_COORDINATOR, lacking) for lacking in range(2)] == [
        f"topic group-events {hidden}",
        f"topic group-responses {hidden}",
    ]
    make_offsets_topic(broker)
    assert [reported(TO_THE_BROKERS, lacking) for lacking in range(2)] == [
        "[Error 30] GroupAuthorizationFailedError: FindCoordinatorResponse error for GROUP/spark-totals: ",
        "TopicAuthorizationFailedError for orders-0",
    ]
    of_one_partition = ("--partition", "0", "--offset", "earliest")
    for reading in (of_one_partition, ("--group", "consumed")):
        words = ("--topic", ORDERS, *reading)
        unread = in_process(consume.command, broker, user_of("consume", 2), installed, *words)
        assert (unread.exit_code, unread.stderr) == (
            1,
            (
                f"Error: Kafka at {broker.bootstrap_servers} denies user program-7-without-2 access: "
                "[Error 29] TopicAuthorizationFailedError: topic orders\n"
            ),
        )
