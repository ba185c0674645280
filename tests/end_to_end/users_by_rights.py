"""Users of a broker with an authorizer: one with the rights of each program, and one for each right that it lacks; their logins."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import confluent_kafka
from kafka import KafkaConsumer, OffsetAndMetadata, TopicPartition
from kafka.errors import CoordinatorNotAvailableError

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.core.acls import Operation, ResourceType, Right
from group_coordinator.driver.checks.rights import ITS_GROUPS, ITS_TOPICS, RIGHTS, right_of
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.settings import JobSettings, load
from tests.broker.clients.kafka_tool import ALL_TOOLS, java_command
from tests.support.authorized_broker import ADMIN, PASSWORD, admin_of, login_of
from tests.support.until import until

JOB = load(overrides=["acls.source=cluster"]).job
ORDERS, REPORTED = "orders", "spark-totals"
ORDERS_0 = TopicPartition(ORDERS, 0)
NO_ONE, APP = "no-one", "app"
"""A user without rights, and a Kafka client behind the gateway."""
DEADLINE_S = 120
BOUND = {ITS_TOPICS: ORDERS, ITS_GROUPS: REPORTED}


def on_group(operation: Operation, name: str) -> Right:
    return Right(operation, ResourceType.GROUP, name)


def on_topic(operation: Operation, name: str) -> Right:
    return Right(operation, ResourceType.TOPIC, name)


READS_ORDERS = on_topic(Operation.READ, ORDERS)
AS_KAFKA_WANTS: Mapping[str, list[Right]] = {
    "consume": [on_group(Operation.READ, "consumed")],
    "groups": [
        *(on_group(Operation.READ, "consumed"), on_group(Operation.DELETE, "consumed")),
        READS_ORDERS,
    ],
    "OffsetReporter, to the coordinator": [on_group(Operation.READ, REPORTED), READS_ORDERS],
}
"""The rights of requests with acls.source = cluster, as at a broker (jobs/reference/events.md, Authorization)."""
OF_THE_APP = [
    *(READS_ORDERS, on_topic(Operation.WRITE, ORDERS), on_group(Operation.READ, "shop")),
    Right(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, "shop-1"),
]


def user_of(program: str, lacking: int | None = None) -> str:
    """Return the user with the rights of the program, or with all but one."""
    number = list(RIGHTS).index(program)
    return f"program-{number}" if lacking is None else f"program-{number}-without-{lacking}"


def job_of(program: str, lacking: int | None = None) -> JobSettings:
    """Return settings with separate topics, which do not exist yet, for `init` without a right."""
    if program != "init" or lacking is None:
        return JOB
    user = user_of(program, lacking)
    return replace(JOB, events_topic=f"{user}-events", responses_topic=f"{user}-responses")


def row(program: str, lacking: int | None = None) -> list[Right]:
    """Return the rights of the program, with names."""
    rights = (right_of(need, job_of(program, lacking)) for need in RIGHTS[program])
    return [right._replace(name=BOUND.get(right.name, right.name)) for right in rights]


def users() -> dict[str, list[Right]]:
    """Everyone's rights."""
    found = {NO_ONE: [], APP: OF_THE_APP}
    for program in RIGHTS:
        found[user_of(program)] = [*row(program), *AS_KAFKA_WANTS.get(program, [])]
        for lacking in range(len(RIGHTS[program])):
            rest = row(program, lacking)
            del rest[lacking]
            found[user_of(program, lacking)] = rest
    return found


def login_options(broker: EmbeddedBroker, user: str) -> list[str]:
    settings = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": user,
    }
    given = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    return ["--bootstrap-server", broker.bootstrap_servers, *given]


VARIABLES = MappingProxyType({"GROUP_COORDINATOR_SASL_PASSWORD": PASSWORD})


def connection_of(broker: EmbeddedBroker, user: str) -> Connection:
    return Connection(broker.bootstrap_servers, login_of(user))


def confluent_login(servers: str) -> dict[str, str]:
    return {
        "bootstrap.servers": servers,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": APP,
        "sasl.password": PASSWORD,
    }


def run_kafka_acls(arguments: list[str], folder: Path) -> None:
    login = folder / "admin.properties"
    module = "org.apache.kafka.common.security.plain.PlainLoginModule required"
    login.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
        f'sasl.jaas.config={module} username="{ADMIN}" password="{PASSWORD}";\n'
    )
    tool = java_command(ALL_TOOLS, "org.apache.kafka.tools.AclCommand", *arguments)
    subprocess.run(  # noqa: S603 - a fixed program
        [*tool, "--command-config", str(login)], check=True, capture_output=True, timeout=60
    )


def make_offsets_topic(broker: EmbeddedBroker) -> None:
    """Brokers make it when they are first asked for a coordinator."""

    def is_made() -> bool:
        with closing(admin_of(broker)) as admin, suppress(CoordinatorNotAvailableError):
            return bool(admin.describe_groups([REPORTED]))
        return False

    until(is_made, seconds=DEADLINE_S, awaited="its topic")


def in_a_transaction(servers: str, consumer: confluent_kafka.Consumer, offset: int) -> None:
    """Send a record and commit the group's offset, without a member."""
    producer = confluent_kafka.Producer({**confluent_login(servers), "transactional.id": "shop-1"})
    producer.init_transactions(DEADLINE_S)
    producer.begin_transaction()
    producer.produce(ORDERS, b"paid", partition=1)
    read = [confluent_kafka.TopicPartition(ORDERS, 0, offset)]
    producer.send_offsets_to_transaction(read, consumer.consumer_group_metadata(), DEADLINE_S)
    producer.commit_transaction(DEADLINE_S)


def commit_at_the_broker(broker: EmbeddedBroker) -> None:
    """By a client that waits for the coordinator."""
    options = {"bootstrap_servers": broker.bootstrap_servers, **login_of(ADMIN)}
    with closing(KafkaConsumer(group_id=REPORTED, **options)) as consumer:
        consumer.assign([ORDERS_0])
        consumer.commit({ORDERS_0: OffsetAndMetadata(1, "", -1)})
