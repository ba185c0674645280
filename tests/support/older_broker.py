"""Brokers of older Kafkas on the loopback interface, each with the ZooKeeper that it needs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.errors import BrokerUnreachableError
from group_coordinator.local.broker import LOOPBACK, free_ports
from group_coordinator.local.child_process import ChildProcess
from group_coordinator.local.jars import java, other_jars
from tests.support.until import until

_LOGGING = "org.slf4j:slf4j-reload4j:1.7.36"
"""Classes of Log4j 1, which these brokers need even without a log."""
_ZOOKEEPER = """\
dataDir={folder}/zookeeper
clientPortAddress={host}
clientPort={zookeeper_port}
admin.enableServer=false
"""
_BROKER = """\
broker.id=1
zookeeper.connect={host}:{zookeeper_port}
listeners=PLAINTEXT://{host}:{port}
log.dirs={folder}/data
auto.create.topics.enable=false
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
group.initial.rebalance.delay.ms=0
log.cleaner.dedupe.buffer.size=16777216
"""
_OPTIONS = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_DEADLINE_S = 60


@contextmanager
def older_broker(version: str, folder: Path) -> Iterator[Connection]:
    """Start a broker of Kafka 2.4 to 3.9 for the block. Raises JarsError."""
    jars = other_jars(f"kafka-{version}", [f"org.apache.kafka:kafka_2.13:{version}", _LOGGING])
    zookeeper_port, port = free_ports(2)
    names = {"host": LOOPBACK, "port": port, "zookeeper_port": zookeeper_port, "folder": folder}
    with ExitStack() as running:

        def started(program: str, properties: str) -> ChildProcess:
            file = folder / f"{program}.properties"
            file.write_text(properties.format(**names), encoding="utf-8")
            class_path = os.pathsep.join(map(str, jars))
            command = [java(), *_OPTIONS, "-cp", class_path, program, str(file)]
            process = ChildProcess(program, command, folder / f"{program}.log")
            running.callback(process.end)
            return process

        started("org.apache.zookeeper.server.ZooKeeperServerMain", _ZOOKEEPER)
        broker = started("kafka.Kafka", _BROKER)
        connection = Connection(f"{LOOPBACK}:{port}")

        def accepts_connections() -> bool:
            broker.check_alive()
            with suppress(BrokerUnreachableError):
                return bool(connection.local_address())
            return False

        until(accepts_connections, seconds=_DEADLINE_S, awaited=f"the broker of Kafka {version}")
        yield connection
