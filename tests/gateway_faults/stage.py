"""A broker, a gateway before it and, where it is asked for, the job: each can be killed, and started again."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Literal
from urllib.error import URLError
from urllib.request import urlopen

import psutil

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.coordinator_topics import create_topics
from group_coordinator.local.broker import LOOPBACK, EmbeddedBroker, free_ports, free_row
from tests.end_to_end.installation import SETTINGS, Installation, installed
from tests.gateway_faults import door
from tests.support.job_process import JobProcess
from tests.support.until import until

READY_S = 60.0
_PORTS = 4
"""Newcomers, node 0, node 1, and health; the broker is node 1."""


_DIFFERS, _IS_MISSING = "a response differs from the job's", "the job has no response"

BehindDoor = Literal["broker", "gateway"]
"""What clients find at `door.HOST`, and so are hung up on while it is away."""


class Stage:
    """Everything has a place that it keeps."""

    def __init__(
        self,
        folder: Path,
        resources: ExitStack,
        behind_door: BehindDoor | None = None,
        more: tuple[str, ...] = (),
    ) -> None:
        self._folder = folder
        self._resources = resources
        [self._broker_port] = free_ports(1)
        first = free_row(_PORTS)
        self._listen = f"{LOOPBACK}:{first}"
        self.port, self.node_port = first, first + 2
        self._health = f"{LOOPBACK}:{first + _PORTS - 1}"
        self._broker_host = door.HOST if behind_door == "broker" else LOOPBACK
        self._gateway_host = door.HOST if behind_door == "gateway" else LOOPBACK
        self.broker_servers = f"{self._broker_host}:{self._broker_port}"
        self.bootstrap_servers = f"{self._gateway_host}:{first}"
        if behind_door is not None:
            row = (self.port, self.node_port)
            ports = row if behind_door == "gateway" else (self._broker_port,)
            resources.enter_context(door.open_door(ports))
        self.start_broker()
        self.installation = Installation.named(
            "gateway", self._broker.bootstrap_servers, folder, (*SETTINGS, *self._settings, *more)
        )
        self._job: JobProcess | None = None

    @property
    def _settings(self) -> tuple[str, ...]:
        return (
            f"gateway.listen={self._listen}",
            f"gateway.advertised.host={self._gateway_host}",
            f"gateway.health.listen={self._health}",
            "group.initial.rebalance.delay.ms=500",
        )

    @property
    def gateway(self) -> psutil.Process:
        """The process."""
        return psutil.Process(self._gateway.pid)

    @property
    def resident_mb(self) -> int:
        """What the gateway has in memory."""
        return round(self.gateway.memory_info().rss / 1e6)

    def page(self, path: str) -> str | None:
        """Of the gateway's health port; None: it is not there, or not ready."""
        try:
            with urlopen(f"http://{self._health}{path}", timeout=READY_S) as answer:
                text: str = answer.read().decode()
                return text
        except (URLError, ConnectionError):
            return None

    def start_broker(self) -> None:
        """Start it, or start it again."""
        told = {"advertised.listeners": f"CLIENTS://{self.broker_servers}"}
        folder = self._folder / "broker"
        self._broker = EmbeddedBroker(folder, self._broker_port, properties=told)
        self._broker.start()
        self._resources.callback(self._broker.stop)

    def start_gateway(self, variables: Mapping[str, str] = MappingProxyType({})) -> None:
        """Return when clients may come; the variables are added to its environment."""
        job = self.installation.settings.job
        create_topics(Connection.of(job), job)
        arguments = ["gateway", *self.installation.options]
        self._gateway = self._resources.enter_context(
            JobProcess(arguments, self._folder, variables=variables)
        )
        self._gateway.until(lambda: self.page("/ready"), seconds=READY_S, awaited="readiness")

    def start_job(self) -> None:
        """Start it, or start it again; its tables are made before."""
        if self._job is None:
            installed(self.installation)
        arguments = ["run", "--with-compaction", *self.installation.options]
        self._job = self._resources.enter_context(JobProcess(arguments, self._folder))

    def kill_job(self) -> None:
        """SIGKILL, without a new one."""
        if self._job is not None:
            self._job.kill()

    def replica(self, name: str) -> int:
        """A figure of the gateway's replica since its start."""
        page = self.page("/metrics") or ""
        found = re.search(rf"^group_coordinator_gateway_replica_{name} (\d+)$", page, re.MULTILINE)
        return int(found[1]) if found else 0

    def differences(self) -> list[str]:
        """Lines of all gateways of this stage, of responses that are not the job's."""
        log = (self._folder / "gateway.log").read_text(errors="replace")
        return [line for line in log.splitlines() if _DIFFERS in line or _IS_MISSING in line]

    def await_job(self) -> None:
        """Return with its first answer: from there on it is warm."""
        with self.installation.admin() as admin:
            admin.list_consumer_group_offsets("nobody")

    def kill(self, what: str) -> None:
        """SIGKILL, and a new one at once."""
        if what == "broker":
            os.kill(self._broker.pid, signal.SIGKILL)
            until(
                lambda: not psutil.pid_exists(self._broker.pid) or _is_dead(self._broker.pid),
                seconds=READY_S,
                awaited="its end",
            )
            self._broker.stop()
            self.start_broker()
        elif what == "gateway":
            self._gateway.kill()
            self.start_gateway()
        else:
            self.kill_job()
            self.start_job()


def _is_dead(pid: int) -> bool:
    return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


@contextmanager
def open_stage(
    folder: Path, behind_door: BehindDoor | None = None, more: tuple[str, ...] = ()
) -> Iterator[Stage]:
    """With broker and gateway, and these settings besides the usual ones."""
    with ExitStack() as resources:
        stage = Stage(folder, resources, behind_door, more)
        stage.start_gateway()
        yield stage
