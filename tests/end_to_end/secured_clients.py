"""Kafka's own clients with their logins, at `group-coordinator gateway` before a secured broker: TLS on both sides."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import confluent_kafka
from kafka import KafkaProducer

from group_coordinator.local.broker import LOOPBACK, EmbeddedBroker, free_row
from tests.broker.clients.kafka_tool import kafka_consumer_groups
from tests.end_to_end.installation import Installation
from tests.end_to_end.secured_broker import (
    ADMIN,
    BY_TOKEN,
    GATEWAY,
    LIMITED,
    MECHANISM,
    PASSWORDS,
    login_of,
    trust_store,
)
from tests.support.certificates import STORE_PASSWORD, self_signed, trusted_by_java
from tests.support.job_process import JobProcess
from tests.support.until import until

TOPIC, PARTITIONS, RECORDS = "orders", 3, 6
_DEADLINE_S = 60.0
_NODES = 2
"""The broker is node 1: the bootstrap port has two behind it, the second of which is its own."""


@contextmanager
def gateway_process(installation: Installation, certificates: Path) -> Iterator[str]:
    """HOST:PORT; its own login is in a file of --command-config, as an administrator writes it."""
    port = free_row(_NODES + 2)
    servers, health = f"{LOOPBACK}:{port}", f"{LOOPBACK}:{port + _NODES + 1}"
    settings = (
        f"gateway.listen={servers}",
        f"gateway.health.listen={health}",
        f"gateway.ssl.keystore.location={self_signed(certificates)}",
    )
    own_login = certificates / "gateway.properties"
    _write(
        own_login,
        **{
            "security.protocol": "sasl_ssl",
            "sasl.mechanism": MECHANISM,
            "sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required "
            f"username='{GATEWAY}' password='{PASSWORDS[GATEWAY]}'; // in single quotes",
            "ssl.truststore.location": str(trusted_by_java(trust_store(certificates), "PKCS12")),
            "ssl.truststore.password": STORE_PASSWORD,
        },
    )
    options = [*installation.options, "--command-config", str(own_login)]
    arguments = ["gateway", *options, *(word for each in settings for word in ("--set", each))]
    with JobProcess(arguments, installation.folder) as process:
        process.until(lambda: _is_ready(health), seconds=_DEADLINE_S, awaited="readiness")
        yield servers
        assert process.stop() == 0, process.log


def by_librdkafka(servers: str, certificates: Path, group_id: str) -> list[int]:
    """What a consumer that logs in with SCRAM reads of the topic, and commits."""
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": servers,
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": MECHANISM,
            "sasl.username": LIMITED,
            "sasl.password": PASSWORDS[LIMITED],
            "ssl.ca.location": str(certificates / "gateway.pem"),
            "group.id": group_id,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([TOPIC])
    found: list[int] = []

    def all_read() -> bool:
        messages = consumer.consume(RECORDS, 0.2)
        found.extend(int(m.value() or b"") for m in messages if not m.error())
        return len(found) >= RECORDS

    with closing(consumer):
        until(all_read, seconds=_DEADLINE_S, awaited=lambda: f"all records, not {found}")
        consumer.commit(asynchronous=False)
    return sorted(found)


def described_by_java(servers: str, certificates: Path, group_id: str) -> list[str]:
    """What kafka-consumer-groups, which logs in with a token that nobody signed, says of the group's offsets."""
    login = certificates / "java.properties"
    module = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
    _write(
        login,
        **{
            "sasl.mechanism": "OAUTHBEARER",
            "sasl.jaas.config": f'{module} required unsecuredLoginStringClaim_sub="{BY_TOKEN}";',
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(certificates / "certificate.pem"),
        },
    )
    patient = ("--timeout", "30000", "--command-config", str(login))
    said = kafka_consumer_groups(servers, "--describe", "--group", group_id, *patient)
    return sorted(" ".join(line.split()[:6]) for line in said.out.splitlines() if TOPIC in line)


def produce(broker: EmbeddedBroker, certificates: Path) -> None:
    """The records, at the broker."""
    options = login_of(ADMIN, certificates)
    with closing(KafkaProducer(bootstrap_servers=broker.bootstrap_servers, **options)) as producer:
        for number in range(RECORDS):
            producer.send(TOPIC, str(number).encode(), partition=number % PARTITIONS)


def _write(file: Path, **properties: str) -> None:
    login = {"security.protocol": "SASL_SSL", **properties}
    file.write_text("".join(f"{key}={value}\n" for key, value in login.items()))


def _is_ready(health: str) -> bool:
    try:
        with urlopen(f"http://{health}/ready", timeout=_DEADLINE_S):
            return True
    except URLError:
        return False
