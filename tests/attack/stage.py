"""A broker with SASL, TLS and an authorizer, the job's stand-in, and a gateway in a process of its own for each attack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import mkdtemp
from types import MappingProxyType
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import psutil
from kafka import KafkaAdminClient
from kafka.admin import ACLOperation, NewTopic, ResourceType

from group_coordinator import settings
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.coordinator_topics import create_topics
from group_coordinator.local.broker import LOOPBACK, free_ports, free_row
from tests.attack.client import Client
from tests.attack.requests_relay import RequestsRelay
from tests.attack.stand_in_job import StandInJob
from tests.end_to_end.secured_broker import (
    ADMIN,
    ALL_TOPICS,
    ASKING,
    CLIENT,
    GATEWAY,
    JOB,
    LIMITED,
    MECHANISM,
    OF_BILLING,
    PASSWORDS,
    WORK,
    Grant,
    grant,
    login_of,
    secured_broker,
    trust_store,
)
from tests.support.certificates import self_signed
from tests.support.job_process import JobProcess

EVENTS, RESPONSES = "group-events", "group-responses"
ORDERS, SECRETS, MISSING = "orders", "secrets", "missing"
OWN_GROUP, OTHER_GROUP = "open", "billing"
"""Of the attacker, and of the client who must not notice."""
_OF_ATTACKER: Sequence[Grant] = (
    (ResourceType.GROUP, OWN_GROUP, ACLOperation.READ),
    (ResourceType.TOPIC, ORDERS, ACLOperation.READ),
    (ResourceType.TOPIC, MISSING, ACLOperation.READ),
)
_SETTINGS = ("events.topic.partitions=1", "responses.topic.partitions=1")
PORTS = 5
"""Newcomers, nodes 0 to 2, and health; the broker is node 1."""
_READY_S = 60.0


class Gateway:
    """A process, and where it is."""

    says_started = "Gateway at "

    def __init__(self, process: JobProcess, port: int, trusted: Path, log: Path) -> None:
        self._process = psutil.Process(process.pid)
        self._trusted = trusted
        self._log = log
        self.port = port
        self.health = f"{LOOPBACK}:{port + PORTS - 1}"

    @property
    def trusted(self) -> Path:
        """The certificate of its ports."""
        return self._trusted

    @property
    def resident_mb(self) -> float:
        """Return what it has in memory."""
        return float(self._process.memory_info().rss / 1e6)

    @property
    def log(self) -> str:
        """Return all that it has printed."""
        return self._log.read_text(errors="replace")

    def client(self, address: str = LOOPBACK) -> Client:
        """Connect someone who has not logged in."""
        return Client(self.port, self._trusted, address)

    def client_of(self, user: str, node: int = -1) -> Client:
        """Connect someone to the port of a node, or of newcomers, and log in."""
        client = Client(self.port + 1 + node, self._trusted)
        client.log_in(_login(user))
        return client

    def is_ready(self) -> bool:
        """Return whether its health port says so."""
        try:
            with urlopen(f"http://{self.health}/ready", timeout=_READY_S):
                return True
        except (URLError, ConnectionError):
            return False


class Stage:
    """The broker has three listeners: for all, behind the relay, and for client certificates."""

    job: StandInJob

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.certificates = folder / "certificates"
        self.certificates.mkdir()
        self.own_certificate = self_signed(self.certificates)
        port, self.certified_port, watched, controller = free_ports(4)
        self.controller = f"1@{LOOPBACK}:{controller}"
        self.relay = RequestsRelay(watched)
        self._watched = watched
        self.broker = secured_broker(self.certificates, port, **self._listeners(port))

    def _listeners(self, port: int) -> dict[str, str]:
        def listeners(watched: int) -> str:
            return (
                f"CLIENTS://{LOOPBACK}:{port},WATCHED://{LOOPBACK}:{watched},"
                f"CERTIFIED://{LOOPBACK}:{self.certified_port}"
            )

        scram = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
        return {
            "listeners": f"{listeners(self._watched)},CONTROLLER://{self.controller.partition('@')[2]}",
            "advertised.listeners": listeners(self.relay.port),
            "controller.quorum.voters": self.controller,
            "listener.security.protocol.map": (
                "CLIENTS:SASL_SSL,WATCHED:SASL_PLAINTEXT,CERTIFIED:SSL,CONTROLLER:PLAINTEXT"
            ),
            f"listener.name.watched.{MECHANISM.lower()}.sasl.jaas.config": scram,
            "listener.name.watched.sasl.enabled.mechanisms": MECHANISM,
            "listener.name.certified.ssl.client.auth": "required",
            "listener.name.certified.ssl.truststore.type": "PEM",
            "listener.name.certified.ssl.truststore.location": str(
                self.certificates / "certificate.pem"
            ),
        }

    def prepare(self) -> None:
        """Make users' rights and topics."""
        for user, grants in (
            (JOB, WORK),
            (GATEWAY, [*ALL_TOPICS, *ASKING]),
            (CLIENT, [*ASKING, *OF_BILLING]),
            (LIMITED, _OF_ATTACKER),
        ):
            grant(self.broker, self.certificates, user, grants)
        self.create_topic(ORDERS)
        create_topics(
            Connection(self.broker.bootstrap_servers, self.login(ADMIN)), self.settings.job
        )

    @property
    def settings(self) -> settings.Settings:
        """Return those of the job."""
        servers = f"bootstrap.servers={self.broker.bootstrap_servers}"
        return settings.load(overrides=[*_SETTINGS, servers])

    def login(self, user: str) -> dict[str, Any]:
        """Return options of kafka-python, for the broker."""
        return login_of(user, self.certificates)

    @contextmanager
    def admin(self) -> Iterator[KafkaAdminClient]:
        """Connect the administrator to the broker itself."""
        options = {"bootstrap_servers": self.broker.bootstrap_servers, **self.login(ADMIN)}
        with closing(KafkaAdminClient(**options)) as admin:
            yield admin

    def create_topic(self, name: str) -> str:
        """Return its id."""
        with self.admin() as admin:
            admin.create_topics([NewTopic(name, 1, 1)], wait_for_metadata=True)
        with self.at_broker(ADMIN) as client:
            [topic] = client.ask("Metadata", 12, {"topics": [{"name": name}]})["topics"]
            topic_id: str = topic["topicId"]
            return topic_id

    def at_broker(self, user: str) -> Client:
        """Connect to the broker itself and log in."""
        client = Client(self.broker.port, trust_store(self.certificates))
        client.log_in(_login(user))
        return client

    def new_folder(self, name: str) -> Path:
        """Return an empty one."""
        return Path(mkdtemp(prefix=f"{name}-", dir=self.folder))

    def own_login(self, *, watched: bool = False) -> list[str]:
        """Return the options of a command whose user is the gateway's."""
        given = {
            "bootstrap.servers": self.relay.address if watched else self.broker.bootstrap_servers,
            "security.protocol": "SASL_PLAINTEXT" if watched else "SASL_SSL",
            "sasl.mechanism": MECHANISM,
            "sasl.username": GATEWAY,
        }
        if not watched:
            given["ssl.truststore.location"] = str(trust_store(self.certificates))
        return as_options(given)

    def free_listen(self) -> str:
        """Return HOST:PORT for a gateway, whose nodes have ports as well."""
        return f"{LOOPBACK}:{free_row(PORTS)}"

    @contextmanager
    def gateway(
        self,
        name: str,
        overrides: Mapping[str, str] = MappingProxyType({}),
        *,
        watched: bool = False,
    ) -> Iterator[Gateway]:
        """Run one for the time of the block; `watched`: its requests pass the relay."""
        folder, port = self.new_folder(name), free_row(PORTS)
        given = {
            "gateway.listen": f"{LOOPBACK}:{port}",
            "gateway.health.listen": f"{LOOPBACK}:{port + PORTS - 1}",
            "gateway.ssl.keystore.location": str(self.own_certificate),
            **overrides,
        }
        arguments = ["gateway", *self.own_login(watched=watched), *as_options(given)]
        with self.process(arguments, folder) as process:
            gateway = Gateway(
                process, port, self.certificates / "certificate.pem", folder / "gateway.log"
            )
            process.until(gateway.is_ready, seconds=_READY_S, awaited="readiness")
            yield gateway

    def process(self, arguments: list[str], folder: Path, **variables: str) -> JobProcess:
        """Run a command with the gateway's password."""
        password = {"GROUP_COORDINATOR_SASL_PASSWORD": PASSWORDS[GATEWAY]}
        return JobProcess(arguments, folder, variables=password | variables)


def as_options(given: dict[str, str]) -> list[str]:
    """Return settings as a command takes them."""
    return [word for key, value in given.items() for word in ("--set", f"{key}={value}")]


def _login(user: str) -> dict[str, Any]:
    return {
        "sasl_mechanism": MECHANISM,
        "sasl_plain_username": user,
        "sasl_plain_password": PASSWORDS[user],
    }


@contextmanager
def open_stage(folder: Path) -> Iterator[Stage]:
    """With broker, relay, topics and the job's stand-in."""
    stage = Stage(folder)
    with stage.broker, stage.relay:
        stage.prepare()
        with StandInJob(stage.settings, stage.login(JOB)) as stage.job:
            yield stage
