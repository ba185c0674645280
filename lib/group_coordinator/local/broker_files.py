"""The folder that a broker lives in: its configuration, its log and its data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

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
    """Paths below one folder, and what is in the files."""

    folder: Path

    @property
    def server_properties(self) -> Path:
        """What Kafka reads at its start."""
        return self.folder / "server.properties"

    @property
    def log_properties(self) -> Path:
        """What its logging reads."""
        return self.folder / "log4j2.properties"

    @property
    def log(self) -> Path:
        """What it prints."""
        return self.folder / "broker.log"

    @property
    def data(self) -> Path:
        """Topics and metadata."""
        return self.folder / "data"

    @property
    def lock(self) -> Path:
        """Locked by a broker as long as it runs."""
        return self.data / ".lock"

    @property
    def is_formatted(self) -> bool:
        """Whether a broker has lived here before."""
        return (self.data / "meta.properties").exists()

    @property
    def says_started(self) -> bool:
        """Whether the log tells that the broker takes requests."""
        return _STARTED in self._log_text()

    def write(self, port: int, controller_port: int, properties: Mapping[str, str]) -> None:
        """Write the configuration; data of an earlier broker stays, and the given properties win over ours."""
        self.folder.mkdir(parents=True, exist_ok=True)
        ours = _SERVER_PROPERTIES.format(port=port, controller_port=controller_port, data=self.data)
        given = "".join(f"{key}={value}\n" for key, value in properties.items())
        self.server_properties.write_text(ours + given, encoding="utf-8")
        self.log_properties.write_text(_LOG_PROPERTIES, encoding="utf-8")

    def log_tail(self) -> str:
        """The last lines of the log."""
        return "\n".join(self._log_text().splitlines()[-_TAIL_LINES:])

    def _log_text(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""
