from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import NewTopic

from group_coordinator.local.broker import BrokerError, EmbeddedBroker, free_ports, is_free
from group_coordinator.local.jars import java
from tests.support.until import until

pytestmark = pytest.mark.kafka


def create_topic(broker: EmbeddedBroker, name: str) -> None:
    admin = KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)
    admin.create_topics([NewTopic(name, num_partitions=1, replication_factor=1)])
    admin.close()


def produce(broker: EmbeddedBroker, topic: str, value: bytes) -> None:
    producer = KafkaProducer(bootstrap_servers=broker.bootstrap_servers)
    producer.send(topic, value).get(timeout=10)
    producer.close()


def first_value(broker: EmbeddedBroker, topic: str) -> bytes:
    consumer = KafkaConsumer(
        topic,
        bootstrap_servers=broker.bootstrap_servers,
        auto_offset_reset="earliest",
        consumer_timeout_ms=20_000,
    )
    value: bytes = next(consumer).value
    consumer.close()
    return value


def port_of(broker: EmbeddedBroker) -> int:
    return int(broker.bootstrap_servers.partition(":")[2])


def test_it_carries_records() -> None:
    with EmbeddedBroker() as broker:
        create_topic(broker, "orders")
        produce(broker, "orders", b"one")

        assert broker.bootstrap_servers.startswith("127.0.0.1:")
        assert first_value(broker, "orders") == b"one"

    assert is_free(port_of(broker))


def test_no_command_line_shows_the_password_of_a_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown, program = tmp_path / "shown", tmp_path / "bin" / "java"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" >> {shown}\nexec {java()} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))

    with EmbeddedBroker(tmp_path / "broker", users={"billing": "hush 1"}):
        pass

    assert "StorageTool format" in shown.read_text()
    assert "hush" not in shown.read_text()
    assert not (tmp_path / "broker" / "format").exists()


def test_a_folder_of_ones_own_outlives_it(tmp_path: Path) -> None:
    with EmbeddedBroker(data_dir=tmp_path) as broker:
        create_topic(broker, "orders")
        produce(broker, "orders", b"one")
    [port] = free_ports(1)
    with EmbeddedBroker(data_dir=tmp_path, port=port) as broker:
        assert broker.bootstrap_servers == f"127.0.0.1:{port}"
        assert first_value(broker, "orders") == b"one"


def test_an_error_at_the_start_carries_the_end_of_the_log(
    broker: EmbeddedBroker, tmp_path: Path
) -> None:
    second = EmbeddedBroker(data_dir=tmp_path, port=broker.port)
    with pytest.raises(BrokerError, match="Address already in use"):
        second.start()


def test_java_is_told_what_kafkas_own_scripts_would_tell_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KAFKA_OPTS", "-Dit.is='not free' --unheard-of")

    with pytest.raises(BrokerError, match="Unrecognized option: --unheard-of"):
        EmbeddedBroker().start()


def test_a_death_is_reported_with_the_end_of_the_log() -> None:
    broker = EmbeddedBroker()
    broker.start()
    os.kill(broker.pid, signal.SIGKILL)
    until(lambda: is_free(port_of(broker)), seconds=20, awaited="the end of the broker")

    with pytest.raises(BrokerError, match=r"status -9\. The end of its log:\n(.*\n)*.*started"):
        broker.check()
    broker.stop()


HOLDER = """
from group_coordinator.local.broker import EmbeddedBroker
with EmbeddedBroker() as broker:
    print(broker.bootstrap_servers, broker._process._files.folder, flush=True)
    input()
"""


def test_it_does_not_survive_a_kill_of_its_owner() -> None:
    with subprocess.Popen(  # noqa: S603 - a fixed program
        [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        address, folder = owner.stdout.readline().split()
        port = int(address.partition(":")[2])
        assert not is_free(port)
        owner.kill()

    until(
        lambda: is_free(port) and not Path(folder).exists(),
        seconds=20,
        awaited="the end of the broker and of its folder",
    )
