from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
from kafka import KafkaAdminClient, KafkaProducer, TopicPartition
from kafka.admin import NewTopic

from group_coordinator.clients import AdminClient
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.topics import ClusterTopics
from group_coordinator.clients.errors import GroupAuthorizationFailedError
from group_coordinator.gateway import GatewayStartError
from group_coordinator.gateway.cluster.broker_access import BrokerAccess
from group_coordinator.gateway.run import check_clients_are_answered
from group_coordinator.local.broker import EmbeddedBroker
from tests.end_to_end.gateway_story import (
    LIMITS,
    ON_OPEN_AND_ORDERS,
    TOPICS,
    RawClient,
    a_member_of,
    answers_of,
    by_a_limited_user,
    by_an_administrator,
    gateway_before,
    groups_are_there,
    names_of_logins,
    wrong_password,
)
from tests.end_to_end.installation import Installation
from tests.end_to_end.metrics_beside import MetricsBeside
from tests.end_to_end.own_topic_attacks import (
    DENIED,
    closed_but_to,
    ends,
    is_hung_up_on,
    nothing_is_changed,
    nothing_is_read_or_written,
    read,
    told_to_real_clients,
    written,
)
from tests.end_to_end.secured_broker import (
    ADMIN,
    ALL_TOPICS,
    ASKING,
    BY_PLAIN,
    BY_TOKEN,
    CLIENT,
    CREATION,
    GATEWAY,
    JOB,
    LIMITED,
    MECHANISM,
    MUTE,
    OF_BILLING,
    PASSWORDS,
    SEEING_ACLS,
    STRANGER,
    WORK,
    WORK_WITHOUT_ANSWERS,
    certificate_of_gateway,
    grant,
    login_of,
    mutual_broker,
    secured_broker,
    trust_store,
)
from tests.end_to_end.secured_clients import (
    RECORDS,
    by_librdkafka,
    described_by_java,
    gateway_process,
    produce,
)
from tests.support.job_process import JobProcess
from tests.support.until import until

pytestmark = [
    pytest.mark.spark,
    pytest.mark.kafka,
]

PATIENCE_S = 60
"""Rules are read every ten seconds."""
ORDERS_0 = TopicPartition("orders", 0)
# Spark's event log holds its configuration and the plan of every query.
SPARK_DEFAULTS = """\
spark.driver.host 127.0.0.1
spark.driver.bindAddress 127.0.0.1
spark.eventLog.enabled true
spark.eventLog.compress false
spark.eventLog.dir file://{folder}
"""


@dataclass(frozen=True)
class SecuredCluster:
    """A broker that wants a login; the job's user and one who may not answer have their ACLs."""

    broker: EmbeddedBroker
    certificates: Path

    def process(
        self, command: list[str], user: str, folder: Path, password: str | None = None
    ) -> JobProcess:
        """A command as that user, whose password is in the environment only."""
        settings = {
            "security.protocol": "SASL_SSL",
            "sasl.username": user,
            "ssl.truststore.location": trust_store(self.certificates),
        }
        login = [
            option for key, value in settings.items() for option in ("--set", f"{key}={value}")
        ]
        options = Installation(self.broker.bootstrap_servers, folder).options
        variables = {
            "GROUP_COORDINATOR_SASL_PASSWORD": password or PASSWORDS[user],
            "SPARK_CONF_DIR": str(spark_conf(folder)),
        }
        return JobProcess([*command, *options, *login], folder, variables=variables)

    def admin(self, folder: Path) -> AdminClient:
        return AdminClient(
            bootstrap_servers=self.broker.bootstrap_servers,
            tables_root=str(folder / "group-coordinator-tables"),
            request_timeout_ms=300_000,
            client_options=login_of(CLIENT, self.certificates),
        )


def spark_conf(folder: Path) -> Path:
    conf, events = folder / "spark-conf", folder / "spark-events"
    conf.mkdir(exist_ok=True)
    events.mkdir(exist_ok=True)
    (conf / "spark-defaults.conf").write_text(SPARK_DEFAULTS.format(folder=events))
    return conf


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredCluster]:
    certificates = tmp_path_factory.mktemp("certificates")
    with secured_broker(certificates) as broker:
        grant(broker, certificates, JOB, [*WORK, *CREATION, *SEEING_ACLS])
        grant(broker, certificates, CLIENT, [*ASKING, *OF_BILLING])
        grant(broker, certificates, MUTE, WORK_WITHOUT_ANSWERS)
        grant(broker, certificates, GATEWAY, [*ALL_TOPICS, *ASKING])
        grant(broker, certificates, LIMITED, LIMITS)
        for user in (BY_PLAIN, BY_TOKEN):
            grant(broker, certificates, user, ON_OPEN_AND_ORDERS)
        make_topics(broker, login_of(ADMIN, certificates))
        yield SecuredCluster(broker, certificates)


@pytest.fixture(scope="module")
def installed(cluster: SecuredCluster, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("job")
    with cluster.process(["init"], JOB, folder) as init:
        assert init.wait(300) == 0, init.log
    return folder


def make_topics(broker: EmbeddedBroker, login: dict[str, Any]) -> None:
    with closing(KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers, **login)) as admin:
        admin.create_topics([NewTopic(name, 3, 1) for name in TOPICS])


def send_commit(cluster: SecuredCluster) -> None:
    """One that nobody waits for."""
    partition = {"partitionIndex": 0, "committedOffset": 7}
    body = {"groupId": "audit", "topics": [{"name": "orders", "partitions": [partition]}]}
    event = {"api": "OffsetCommit", "version": 8, "correlationId": "c", "body": body}
    producer = KafkaProducer(
        bootstrap_servers=cluster.broker.bootstrap_servers, **login_of(CLIENT, cluster.certificates)
    )
    producer.send("group-events", key=b"audit", value=json.dumps(event).encode())
    producer.close()


def files_with(folder: Path, text: bytes) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and text in path.read_bytes()]


def test_a_commit_is_answered_and_the_password_is_nowhere(
    cluster: SecuredCluster, installed: Path
) -> None:
    settings = ("group.initial.rebalance.delay.ms=0", "acls.source=cluster")
    metrics = MetricsBeside(Installation(cluster.broker.bootstrap_servers, installed))
    run = ["run", "--progress", "progress.json", *metrics.options]
    run += [f"--set={setting}" for setting in settings]
    with cluster.process(run, JOB, installed) as job, cluster.admin(installed) as admin:
        admin.alter_consumer_group_offsets("billing", {ORDERS_0: 42}).all()
        assert admin.list_consumer_group_offsets("billing")[ORDERS_0].offset == 42
        a_denied_commit_is_known(cluster, installed, admin)
        assert 0 <= metrics.scraped()["group_coordinator_acls_age_seconds"] < PATIENCE_S
        kafkas_own_clients_log_in(cluster, installed)
        shown = command_lines(job.pid)
        assert job.stop() == 0, job.log

    assert [line for line in shown if "org.apache.spark.deploy.SparkSubmit" in line]
    assert [line for line in shown if "Hush" in line] == []

    assert (installed / "progress.json").exists()
    assert files_with(installed / "spark-events", b"group-events")
    assert files_with(installed / "group-coordinator-checkpoint", b"group-events")
    assert files_with(installed, b"Hush") == []


def command_lines(pid: int) -> list[str]:
    """What any user of the machine reads of a process, and of those that it started."""
    process = psutil.Process(pid)
    lines = []
    for each in (process, *process.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            lines.append(" ".join(each.cmdline()))
    return lines


def a_denied_commit_is_known(cluster: SecuredCluster, folder: Path, admin: AdminClient) -> None:
    """The cluster's own ACLs let the client commit for another group only."""
    with pytest.raises(GroupAuthorizationFailedError):
        admin.alter_consumer_group_offsets("salaries", {ORDERS_0: 42}).all()

    installation = Installation(cluster.broker.bootstrap_servers, folder)
    sql = "SELECT api, principal, operation, resource_type, resource_name FROM denials"
    until(lambda: installation.rows(sql), seconds=60, awaited="its denial in the table")
    assert installation.rows(sql) == [
        {
            "api": "OffsetCommit",
            "principal": f"User:{CLIENT}",
            "operation": "READ",
            "resource_type": "GROUP",
            "resource_name": "salaries",
        }
    ]


def kafkas_own_clients_log_in(cluster: SecuredCluster, folder: Path) -> None:
    """Through a gateway in a process of its own, by two mechanisms; the job knows who committed."""
    installation = Installation(cluster.broker.bootstrap_servers, folder)
    produce(cluster.broker, cluster.certificates)
    with gateway_process(installation, cluster.certificates) as servers:
        assert by_librdkafka(servers, cluster.certificates, "open") == [*range(RECORDS)]
        assert described_by_java(servers, cluster.certificates, "open") == [
            f"open orders {partition} 2 2 0" for partition in range(3)
        ]
    sql = (
        "SELECT DISTINCT principal FROM coordinator_log WHERE group_id = 'open' AND record_type = 1"
    )
    until(lambda: installation.rows(sql), seconds=60, awaited="its commit in the log")
    assert installation.rows(sql) == [{"principal": f"User:{LIMITED}"}]


def test_a_user_who_may_not_answer(cluster: SecuredCluster, installed: Path) -> None:
    """It takes the job's place on its checkpoint."""
    send_commit(cluster)
    with cluster.process(["init"], MUTE, installed) as init:
        assert init.wait(300) == 0, init.log
    with cluster.process(["run"], MUTE, installed) as job:
        assert job.wait(500) == 1, job.log

    assert job.log.splitlines()[-1].startswith(
        f"Error: Kafka at {cluster.broker.bootstrap_servers} denies user mute access: "
    )
    assert job.log.splitlines()[-1].endswith("group-responses")
    assert files_with(installed, b"Hush") == []


def test_topics_that_a_user_may_not_see_are_not_taken_for_gone(cluster: SecuredCluster) -> None:
    login = login_of(LIMITED, cluster.certificates)
    topics = ClusterTopics(Connection(cluster.broker.bootstrap_servers, login))
    with closing(topics):
        named, every = topics.look(["orders", "payments", "secrets"]), topics.look(None)

    assert (named.topics.keys(), named.hidden) == ({"orders", "payments"}, {"secrets"})
    assert (every.topics.keys(), every.hidden) == ({"orders", "payments"}, set())


def test_a_wrong_password(cluster: SecuredCluster, tmp_path: Path) -> None:
    with cluster.process(["init"], JOB, tmp_path, "wrong-Hush9") as init:
        assert init.wait(120) == 1

    assert f"Kafka at {cluster.broker.bootstrap_servers}" in init.log
    assert "authentication of user job failed" in init.log
    assert len(init.log.splitlines()) == 1, init.log
    assert files_with(tmp_path, b"Hush") == []


def test_a_user_without_acls(cluster: SecuredCluster, tmp_path: Path) -> None:
    with cluster.process(["init"], STRANGER, tmp_path) as init:
        assert init.wait(120) == 1

    assert init.log == (
        f"Error: topic group-events does not exist for this user, and {cluster.broker.bootstrap_servers} does "
        "not create it: TOPIC_AUTHORIZATION_FAILED (29), Authorization failed: give the user the ACL CREATE, "
        "or DESCRIBE if the topic exists\n"
    )


def test_a_gateway_refuses_what_the_broker_refuses(cluster: SecuredCluster) -> None:
    broker, certificates = cluster.broker, cluster.certificates
    login = login_of(ADMIN, certificates)

    async def story() -> None:
        async with gateway_before(broker, certificates) as scene:
            await groups_are_there(scene)
            theirs, ours = await answers_of(scene, login, [*by_an_administrator()])
            assert ours == theirs
            for user in (LIMITED, STRANGER):
                asked = [*by_a_limited_user()]
                theirs, ours = await answers_of(scene, login_of(user, certificates), asked)
                assert ours == theirs

    asyncio.run(story())


def test_a_gateway_knows_who_logs_in(cluster: SecuredCluster) -> None:
    async def story() -> None:
        async with gateway_before(cluster.broker, cluster.certificates) as scene:
            assert await names_of_logins(scene) == ["User:by-plain", "User:by-token", "User:admin"]
            assert await wrong_password(scene)

    asyncio.run(story())


def test_a_client_joins_through_a_gateway_with_nothing_but_its_login(
    cluster: SecuredCluster,
) -> None:
    async def story() -> None:
        async with gateway_before(cluster.broker, cluster.certificates) as scene:
            login = login_of(LIMITED, cluster.certificates)
            options = login | {"ssl_cafile": str(cluster.certificates / "gateway.pem")}
            servers = f"127.0.0.1:{scene.gateway_port}"
            assigned = await asyncio.to_thread(a_member_of, "open", servers, options)

            assert assigned == {TopicPartition("orders", number) for number in range(3)}
            assert {caller.principal for caller in scene.told.callers} == {"User:limited"}

    asyncio.run(story())


@pytest.mark.usefixtures("installed")
def test_the_coordinators_own_topics_are_closed_even_to_an_administrator(
    cluster: SecuredCluster,
) -> None:
    broker, certificates = cluster.broker, cluster.certificates
    admin, servers = login_of(ADMIN, certificates), broker.bootstrap_servers

    async def story() -> None:
        async with gateway_before(broker, certificates, closed=closed_but_to(JOB)) as scene:

            async def come(user: str = ADMIN) -> RawClient:
                client = await scene.at_gateway()
                await client.log_in(login_of(user, certificates))
                return client

            before = await ends(servers, admin)
            await nothing_is_read_or_written(scene, come)
            await nothing_is_changed(scene, come)
            login = {
                "security.protocol": "SASL_SSL",
                "sasl.mechanism": MECHANISM,
                "sasl.username": ADMIN,
                "sasl.password": PASSWORDS[ADMIN],
                "ssl.ca.location": str(certificates / "gateway.pem"),
            }
            at_gateway = f"127.0.0.1:{scene.gateway_port}"
            told = await asyncio.to_thread(told_to_real_clients, at_gateway, login)
            assert told == [DENIED, DENIED]
            assert await ends(servers, admin) == before
            job = await come(JOB)
            answers = [await job.ask(*ask) for ask in read(scene, "group-events")]
            assert [len(answer["responses"]) for answer in answers] == [1, 1]

    asyncio.run(story())


def test_a_gateway_lends_its_certificate_to_nobody(tmp_path: Path) -> None:
    """At a broker that knows users by certificate, where the gateway's user may do everything."""

    async def story(broker: EmbeddedBroker) -> None:
        own = certificate_of_gateway(tmp_path)
        async with gateway_before(broker, tmp_path, BrokerAccess(own)) as scene:
            with pytest.raises(GatewayStartError, match=r"^security\.protocol = SSL: brokers know"):
                await check_clients_are_answered(scene.view)
            assert await is_hung_up_on(scene.at_gateway, written(9, "group-events"))

        shared, closed = BrokerAccess(own, lends_certificate=True), closed_but_to("gateway")
        async with gateway_before(broker, tmp_path, shared, closed) as scene:
            before = await ends(broker.bootstrap_servers, own)
            await nothing_is_read_or_written(scene, scene.at_gateway)
            await nothing_is_changed(scene, scene.at_gateway)
            client = await scene.at_gateway()
            answer = await client.ask(*written(9, "orders"))
            assert len(answer["responses"]) == 1
            assert await ends(broker.bootstrap_servers, own) == before

    with mutual_broker(tmp_path) as broker:
        topics = [NewTopic(name, 1, 1) for name in ("group-events", "group-responses", "orders")]
        own = certificate_of_gateway(tmp_path)
        with closing(KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers, **own)) as admin:
            admin.create_topics(topics, wait_for_metadata=True)
        asyncio.run(story(broker))
