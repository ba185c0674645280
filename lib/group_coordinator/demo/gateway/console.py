"""Kafka's own console consumer, a program in Java, as a further client of the gateway."""

from __future__ import annotations

from group_coordinator.demo.folder import DemoFolder
from group_coordinator.demo.gateway.cast import CONSOLE
from group_coordinator.local.child_process import ChildProcess
from group_coordinator.local.kafka_tools import CONSOLE_CONSUMER, tool_command

_GRACE_S = 10.0


class ConsoleConsumer:
    """Prints the records of its topic, and commits every five seconds."""

    def __init__(self, folder: DemoFolder, servers: str) -> None:
        [topic] = CONSOLE.topics
        words = ("--bootstrap-server", servers, "--topic", topic, "--group", CONSOLE.group_id)
        self.typed = f"kafka-console-consumer {' '.join(words)} --from-beginning"
        command = tool_command(CONSOLE_CONSUMER, *words, "--from-beginning")
        self._process = ChildProcess("The console consumer", command, folder.output("console"))

    @property
    def is_at_work(self) -> bool:
        """True if it has printed a record."""
        return '{"number":' in self._process.output

    def check(self) -> None:
        """Raise CommandFailedError if it gave up."""
        self._process.check_alive()

    def close(self) -> None:
        """Let it commit and leave."""
        self._process.end(_GRACE_S)
