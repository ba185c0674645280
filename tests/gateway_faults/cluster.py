"""Several brokers, several gateways before them, and the job."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from group_coordinator.codecs import wire
from group_coordinator.local.broker import LOOPBACK, EmbeddedBroker, free_ports, free_row
from tests.end_to_end.installation import SETTINGS, Installation, installed
from tests.gateway_faults.frames import read_frame
from tests.gateway_faults.stage import READY_S
from tests.support.job_process import JobProcess

HIGHEST_NODE = 4
_COPIES = 3
_TIMEOUT_S = 10.0
_PROPERTIES = {
    "controller.listener.names": "CONTROLLER",
    "offsets.topic.replication.factor": str(_COPIES),
    "transaction.state.log.replication.factor": str(_COPIES),
    # Who stopped without a word is taken for gone after so long; by default 9 s.
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
}


class Brokers:
    """Node 1 is also the controller, and stays; each has a port that it keeps."""

    def __init__(self, folder: Path, resources: ExitStack) -> None:
        self._folder = folder
        self._resources = resources
        self._controller, *self._ports = free_ports(HIGHEST_NODE + 1)
        self._started: dict[int, EmbeddedBroker] = {}

    @property
    def bootstrap_servers(self) -> str:
        """All that there may be."""
        return ",".join(f"{LOOPBACK}:{port}" for port in self._ports)

    def start(self, node: int) -> None:
        """For the first time, or again."""
        port = self._ports[node - 1]
        own = f"CLIENTS://{LOOPBACK}:{port}"
        both = f"{own},CONTROLLER://{LOOPBACK}:{self._controller}"
        properties = {
            "process.roles": "broker,controller" if node == 1 else "broker",
            "node.id": str(node),
            "controller.quorum.voters": f"1@{LOOPBACK}:{self._controller}",
            "listeners": both if node == 1 else own,
        }
        folder = self._folder / f"broker-{node}"
        broker = EmbeddedBroker(folder, port, properties={**_PROPERTIES, **properties})
        broker.start()
        self._started[node] = broker
        self._resources.callback(broker.stop)

    def kill(self, node: int) -> None:
        """SIGKILL."""
        broker = self._started.pop(node)
        os.kill(broker.pid, signal.SIGKILL)
        broker.stop()


class GatewayBefore:
    """One gateway, in a process and a folder of its own."""

    def __init__(self, name: str, folder: Path) -> None:
        self.port = free_row(HIGHEST_NODE + 3)
        self.bootstrap_servers = f"{LOOPBACK}:{self.port}"
        self._health = f"{LOOPBACK}:{self.port + HIGHEST_NODE + 2}"
        self._folder = folder / name
        self._folder.mkdir()

    def start(self, installation: Installation, resources: ExitStack) -> None:
        """Return when clients may come."""
        settings = (
            f"gateway.listen={self.bootstrap_servers}",
            f"gateway.health.listen={self._health}",
            f"tables.root={installation.tables_root}",
        )
        own = [word for each in settings for word in ("--set", each)]
        arguments = ["gateway", *installation.options, *own]
        process = resources.enter_context(JobProcess(arguments, self._folder))
        process.until(lambda: self.page("/ready"), seconds=READY_S, awaited="readiness")

    def port_of(self, node: int) -> int:
        """Where clients find a node."""
        return self.port + 1 + node

    def page(self, path: str) -> str:
        """Of its health port; empty: it is not there, or not ready."""
        try:
            with urlopen(f"http://{self._health}{path}", timeout=READY_S) as answer:
                text: str = answer.read().decode()
                return text
        except (URLError, ConnectionError):
            return ""

    def asked(self, api: str, version: int, body: Mapping[str, Any]) -> dict[str, Any]:
        """What it answers to a newcomer."""
        with socket.create_connection((LOOPBACK, self.port), timeout=_TIMEOUT_S) as connection:
            connection.sendall(wire.request(api, version, 1, "newcomer", body))
            return wire.response_body(api, version, read_frame(connection))[1]


class ClusterStage:
    """Three brokers and two gateways; the job is warm."""

    def __init__(self, folder: Path, resources: ExitStack) -> None:
        self.brokers = Brokers(folder, resources)
        for node in range(1, _COPIES + 1):
            self.brokers.start(node)
        copies = f"topics.replication.factor={_COPIES}"
        settings = (*SETTINGS, copies, "group.initial.rebalance.delay.ms=500")
        self.installation = Installation.named(
            "gateways", self.brokers.bootstrap_servers, folder, settings
        )
        installed(self.installation)
        arguments = ["run", "--with-compaction", *self.installation.options]
        resources.enter_context(JobProcess(arguments, folder))
        self.gateways = [GatewayBefore(name, folder) for name in ("gateway-1", "gateway-2")]
        for gateway in self.gateways:
            gateway.start(self.installation, resources)
