"""Kafka broker on this machine: one process on the loopback interface, for the demo and for tests; and free ports."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Self

from group_coordinator.local.child_process import Watchdog
from group_coordinator.local.jars import broker_jars, java, kafka_options

# One node is broker and controller; the sizes are for one user on one machine.
_SERVER_PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller_port}
listeners=CLIENTS://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}
advertised.listeners=CLIENTS://127.0.0.1:{port}
controller.listener.names=CONTROLLER
inter.broker.listener.name=CLIENTS
listener.security.protocol.map=CLIENTS:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={data}
auto.create.topics.enable=false
offsets.topic.num.partitions=4
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=2
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
num.network.threads=2
num.io.threads=4
background.threads=2
log.cleaner.dedupe.buffer.size=16777216
"""

_LOG_PROPERTIES = """\
status=error
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%d %p %m (%c{1})%n%throwable
rootLogger.level=WARN
rootLogger.appenderRef.out.ref=out
# The one line that says that the broker is up.
logger.server.name=kafka.server.KafkaRaftServer
logger.server.level=INFO
"""

_STARTED = "Kafka Server started"
_TAIL_LINES = 20


@dataclass(frozen=True, slots=True)
class BrokerFiles:
    folder: Path

    @property
    def server_properties(self) -> Path:
        return self.folder / "server.properties"

    @property
    def log_properties(self) -> Path:
        return self.folder / "log4j2.properties"

    @property
    def log(self) -> Path:
        return self.folder / "broker.log"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def lock(self) -> Path:
        return self.data / ".lock"

    @property
    def is_formatted(self) -> bool:
        return (self.data / "meta.properties").exists()

    @property
    def says_started(self) -> bool:
        return _STARTED in self._log_text()

    def write(self, port: int, controller_port: int, properties: Mapping[str, str]) -> None:
        """Write the configuration. Data of an earlier broker stays, and the given properties override ours."""
        self.folder.mkdir(parents=True, exist_ok=True)
        ours = _SERVER_PROPERTIES.format(port=port, controller_port=controller_port, data=self.data)
        given = "".join(f"{key}={value}\n" for key, value in properties.items())
        self.server_properties.write_text(ours + given, encoding="utf-8")
        self.log_properties.write_text(_LOG_PROPERTIES, encoding="utf-8")

    def log_tail(self) -> str:
        return "\n".join(self._log_text().splitlines()[-_TAIL_LINES:])

    def _log_text(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""


_START_TIMEOUT_SECONDS = 60
_STOP_TIMEOUT_SECONDS = 10
_POLL_SECONDS = 0.05
_CLUSTER_ID = "GroupCoordinatorLocalA"
_JVM_OPTIONS = (
    *("-Xms64m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
    *("-XX:-UsePerfData", "-XX:+ExitOnOutOfMemoryError", "-Djava.awt.headless=true"),
)


class BrokerError(RuntimeError):
    """The broker could not start, or died; the message has the last lines of its log."""

    def __init__(self, what: str, log_tail: str) -> None:
        super().__init__(f"{what}. The end of its log:\n{log_tail}")


class BrokerProcess:
    """Process in a session of its own, which a Ctrl-C for this process does not reach. It ends with this process all the same."""

    def __init__(
        self, files: BrokerFiles, temporary_folder: Path | None, users: Mapping[str, str]
    ) -> None:
        if not files.is_formatted:
            _format(files, users)
        self._files = files
        with files.log.open("wb") as log:
            self._java = subprocess.Popen(  # noqa: S603 - Java's own programs
                _command(files, "kafka.Kafka", str(files.server_properties)),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._watchdog = Watchdog(self._java.pid, temporary_folder)

    @property
    def pid(self) -> int:
        return self._java.pid

    def check(self) -> None:
        status = self._java.poll()
        if status is not None:
            raise BrokerError(f"The broker ended with status {status}", self._files.log_tail())

    def await_start(self) -> None:
        """Return when the broker accepts requests. Raises BrokerError if it ended, or takes too long."""
        deadline = time.monotonic() + _START_TIMEOUT_SECONDS
        while not self._files.says_started:
            self.check()
            if time.monotonic() > deadline:
                raise BrokerError(
                    f"The broker was not up after {_START_TIMEOUT_SECONDS} s",
                    self._files.log_tail(),
                )
            time.sleep(_POLL_SECONDS)

    def end(self) -> None:
        self._java.terminate()
        try:
            self._java.wait(_STOP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            self._java.kill()
            self._java.wait()
        self.detach()

    def detach(self) -> None:
        self._watchdog.dismiss()


def _format(files: BrokerFiles, users: Mapping[str, str]) -> None:
    # Kafka starts only in a formatted folder, and the first users are created with it.
    given = ("--cluster-id", _CLUSTER_ID, "--config", str(files.server_properties), *_added(users))
    # The tool takes a file for its options, as other users can read a command line.
    options = files.folder / "format"
    options.touch(0o600)
    options.write_text("".join(f"{option}\n" for option in given), encoding="utf-8")
    try:
        done = subprocess.run(  # noqa: S603 - Java's own programs
            _command(files, "kafka.tools.StorageTool", "format", f"@{options}"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    finally:
        options.unlink()
    if done.returncode != 0:
        raise BrokerError("The broker's folder could not be formatted", done.stdout.strip())


def _added(users: Mapping[str, str]) -> Iterator[str]:
    for name, password in users.items():
        yield from ("--add-scram", f"SCRAM-SHA-512=[name={name},password={password}]")


def _command(files: BrokerFiles, *program: str) -> list[str]:
    class_path = os.pathsep.join(map(str, broker_jars()))
    logging = f"-Dlog4j2.configurationFile={files.log_properties}"
    return [java(), *_JVM_OPTIONS, logging, *kafka_options(), "-cp", class_path, *program]


LOOPBACK = "127.0.0.1"
_NOT_FOR_CLIENTS = range(20_000, 32_000)
"""Range below 32,768, where systems take the ports of clients: such a port may be in use before a server listens."""


def free_ports(count: int) -> list[int]:
    """Different ports that were free at the time of the call."""
    with ExitStack() as held:
        return [_held_port(held) for _ in range(count)]


def free_row(count: int) -> int:
    """First of `count` consecutive ports that were free at the time of the call."""
    while True:
        port = secrets.choice(_NOT_FOR_CLIENTS)
        with ExitStack() as held, suppress(OSError):
            for number in range(count):
                held.enter_context(socket.create_server((LOOPBACK, port + number)))
            return port


def _held_port(held: ExitStack) -> int:
    while True:
        port = secrets.choice(_NOT_FOR_CLIENTS)
        with suppress(OSError):
            held.enter_context(socket.create_server((LOOPBACK, port)))
            return port


def is_free(port: int) -> bool:
    try:
        socket.create_server((LOOPBACK, port)).close()
    except OSError:
        return False
    return True


class EmbeddedBroker:
    """Broker that lives as long as its `with` block, and never longer than this process.

    Its Java gets the options of KAFKA_OPTS. Without a folder a temporary folder is used, without a port any free port. `users` are
    passwords by name, for logins with SCRAM-SHA-512 if the properties require them.
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
        """Return when the broker accepts requests. Raises BrokerError."""
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
        self._started.check()

    def stop(self) -> None:
        self._resources.close()

    def detach(self) -> None:
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
