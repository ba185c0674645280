"""Folder and Java process of the broker: its start, its health, its end."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from group_coordinator.local.child_process import Watchdog
from group_coordinator.local.jars import broker_jars
from group_coordinator.local.java import java, kafka_options

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
    """Paths below one folder, and the contents of the files."""

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
        """Lock file, locked by a broker as long as it runs."""
        return self.data / ".lock"

    @property
    def is_formatted(self) -> bool:
        """A broker has used this folder before."""
        return (self.data / "meta.properties").exists()

    @property
    def says_started(self) -> bool:
        """The log has the line of a broker that accepts requests."""
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
    """Process with its own session, so that a Ctrl-C for this process does not reach it. It ends with this process all the same.

    Args:
        files: the broker's folder.
        temporary_folder: removed if this process dies first; None: everything stays.
        users: passwords by name, created with a new folder.
    """

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
        """Raise BrokerError if the process has ended."""
        status = self._java.poll()
        if status is not None:
            raise BrokerError(f"The broker ended with status {status}", self._files.log_tail())

    def await_start(self) -> None:
        """Return when the broker accepts requests.

        Raises:
            BrokerError: the broker ended, or its start takes too long.
        """
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
        """Stop the broker cleanly, or by force after a timeout."""
        self._java.terminate()
        try:
            self._java.wait(_STOP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            self._java.kill()
            self._java.wait()
        self.detach()

    def detach(self) -> None:
        """Let the broker continue after the end of this process."""
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
