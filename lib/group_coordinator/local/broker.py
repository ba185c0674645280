"""Kafka broker on this machine: one process on the loopback interface, for the demo and for tests."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Self

from group_coordinator.local.broker_process import BrokerFiles, BrokerProcess
from group_coordinator.local.ports import LOOPBACK, free_ports


class EmbeddedBroker:
    """Broker that lives as long as its `with` block, and never longer than this process.

    Its Java gets the options of KAFKA_OPTS, as from Kafka's own scripts.

    Args:
        data_dir: folder of its topics, which stay; a temporary folder if None.
        port: the clients' port; any free port if None.
        properties: of Kafka, in addition to our own or in their place.
        users: passwords by name, for logins with SCRAM-SHA-512 if the properties require them.
    """

    def __init__(
        self,
        data_dir: Path | None = None,
        port: int | None = None,
        *,
        properties: Mapping[str, str] = MappingProxyType({}),
        users: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._data_dir = data_dir
        self._port, self._controller_port = free_ports(2)
        if port is not None:
            self._port = port
        self._properties = properties
        self._users = users
        self._resources = ExitStack()
        self._process: BrokerProcess | None = None

    @property
    def bootstrap_servers(self) -> str:
        return f"{LOOPBACK}:{self._port}"

    @property
    def port(self) -> int:
        return self._port

    @property
    def pid(self) -> int:
        return self._started.pid

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            # A broker that died during the block is an error, even if the block succeeded.
            self.check()
        finally:
            self.stop()

    def start(self) -> None:
        """Return when the broker accepts requests.

        Raises:
            BrokerError: the broker does not start.
        """
        with ExitStack() as resources:
            folder = self._data_dir or _temporary_folder(resources)
            files = BrokerFiles(folder.resolve())
            files.write(self._port, self._controller_port, self._properties)
            process = BrokerProcess(files, None if self._data_dir else folder, self._users)
            # A failed start must not leave the process.
            resources.callback(process.end)
            process.await_start()
            self._process = process
            self._resources = resources.pop_all()

    def check(self) -> None:
        """Raise BrokerError if the broker died."""
        self._started.check()

    def stop(self) -> None:
        """End the process and remove temporary files."""
        self._resources.close()

    def detach(self) -> None:
        """Let the broker continue after the end of this process."""
        self._started.detach()
        self._resources.pop_all()

    @property
    def _started(self) -> BrokerProcess:
        if self._process is None:
            raise RuntimeError("The broker was not started")
        return self._process


def _temporary_folder(resources: ExitStack) -> Path:
    folder = TemporaryDirectory(prefix="kafka-broker-", ignore_cleanup_errors=True)
    return Path(resources.enter_context(folder))
