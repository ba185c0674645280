"""kafka-python and librdkafka without groups, through the gateway as a user starts it."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from os import urandom
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import confluent_kafka
import pytest
from confluent_kafka import OFFSET_BEGINNING
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic

from group_coordinator.local.broker import EmbeddedBroker
from tests.support.until import until
from tests.unit.gateway.stage import free_block

pytestmark = pytest.mark.kafka

EVENTS, RESPONSES = "gateway-events", "gateway-responses"
TOPIC, PARTITIONS, RECORDS = "through-the-gateway", 3, 100
SIZES = (0, 1, 100, 5_000, 400_000)
DEADLINE_S = 30.0


def test_what_they_produce_is_what_they_consume(broker: EmbeddedBroker, tmp_path: Path) -> None:
    with closing(KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)) as admin:
        admin.create_topics([NewTopic(EVENTS, 1, 1), NewTopic(RESPONSES, 1, 1)])
    port = free_block()
    with gateway(broker, port, tmp_path):
        servers = f"127.0.0.1:{port}"
        until(lambda: page(port, "/ready") == "ready\n", seconds=DEADLINE_S, awaited="readiness")
        with closing(KafkaAdminClient(bootstrap_servers=servers)) as admin:
            admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)])
        values = [urandom(SIZES[number % len(SIZES)]) for number in range(RECORDS)]
        python = produced_by_kafka_python(servers, values[: RECORDS // 2])
        librdkafka = produced_by_librdkafka(servers, values[RECORDS // 2 :])

        assert python + librdkafka == RECORDS
        assert sorted(consumed_by_kafka_python(servers)) == sorted(values)
        assert sorted(consumed_by_librdkafka(servers)) == sorted(values)
        fetches = re.findall(
            r'requests_total{api="Fetch",version="(\d+)",place="(\S+)"}', page(port)
        )
        assert {int(version) for version, _ in fetches} <= set(range(4, 16))
        assert {place for _, place in fetches} == {"node-1"}


@contextmanager
def gateway(broker: EmbeddedBroker, port: int, folder: Path) -> Iterator[None]:
    """`group-coordinator gateway`, ended by SIGTERM."""
    overrides = {
        "gateway.health.listen": f"127.0.0.1:{health(port)}",
        "events.topic": EVENTS,
        "responses.topic": RESPONSES,
        "tables.root": str(folder),
    }
    command = [sys.executable, "-m", "group_coordinator.cli.main", "gateway"]
    command += ["--bootstrap-server", broker.bootstrap_servers, "--listen", f"127.0.0.1:{port}"]
    for key, value in overrides.items():
        command += ["--set", f"{key}={value}"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603 - a fixed program
        try:
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            _, said = process.communicate(timeout=DEADLINE_S)
    assert (process.returncode, "Traceback" in said) == (0, False), said
    assert f"Gateway at 127.0.0.1:{port}, clients see 127.0.0.1: node" in said


def health(port: int) -> int:
    """The port of a node that there is not."""
    return port + 4


def page(port: int, path: str = "/metrics") -> str:
    try:
        with urlopen(f"http://127.0.0.1:{health(port)}{path}", timeout=DEADLINE_S) as answer:
            text: str = answer.read().decode()
            return text
    except URLError:
        return ""


def produced_by_kafka_python(servers: str, values: list[bytes]) -> int:
    with closing(KafkaProducer(bootstrap_servers=servers, acks="all", linger_ms=5)) as producer:
        sent = [
            producer.send(TOPIC, value=v, partition=n % PARTITIONS) for n, v in enumerate(values)
        ]
        return len([future.get(timeout=DEADLINE_S) for future in sent])


def produced_by_librdkafka(servers: str, values: list[bytes]) -> int:
    producer = confluent_kafka.Producer({"bootstrap.servers": servers, "compression.type": "gzip"})
    for number, value in enumerate(values):
        producer.produce(TOPIC, value=value, partition=number % PARTITIONS)
    return len(values) - producer.flush(DEADLINE_S)


def consumed_by_kafka_python(servers: str) -> list[bytes]:
    found: list[bytes] = []
    with closing(
        KafkaConsumer(bootstrap_servers=servers, auto_offset_reset="earliest")
    ) as consumer:
        consumer.assign([TopicPartition(TOPIC, number) for number in range(PARTITIONS)])

        def all_read() -> bool:
            for records in consumer.poll(timeout_ms=500).values():
                found.extend(record.value for record in records)
            return len(found) >= RECORDS

        until(all_read, seconds=DEADLINE_S, awaited="all records")
    return found


def consumed_by_librdkafka(servers: str) -> list[bytes]:
    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": servers, "group.id": "nobody", "enable.auto.commit": False}
    )
    consumer.assign(
        [confluent_kafka.TopicPartition(TOPIC, n, OFFSET_BEGINNING) for n in range(PARTITIONS)]
    )
    found: list[bytes] = []

    def all_read() -> bool:
        found.extend(
            m.value() or b"" for m in consumer.consume(RECORDS, timeout=0.5) if not m.error()
        )
        return len(found) >= RECORDS

    with closing(consumer):
        until(all_read, seconds=DEADLINE_S, awaited="all records")
    return found
