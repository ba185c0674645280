"""Kafka's own tools: kafka-consumer-groups, to compare with, and a consumer of shares."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from group_coordinator.local.jars import _jars, broker_jars
from group_coordinator.local.java import java

# The tools' other dependencies are on the broker's class path already. The consumer of shares needs the client of its version.
_IVY_MODULE = """\
<ivy-module version="2.0">
  <info organisation="group-coordinator" module="jars"/>
  <configurations><conf name="default"/></configurations>
  <dependencies>
    {}
  </dependencies>
</ivy-module>
"""
_DEPENDENCY = """\
<dependency org="org.apache.kafka" name="{}" rev="4.3.1" conf="default" transitive="false"/>"""
_OF_GROUPS = ("kafka-tools",)
_OF_SHARES = ("kafka-tools", "kafka-clients", "kafka-server-common")


class Said(NamedTuple):
    """What a command printed."""

    out: str
    err: str


def kafka_consumer_groups(bootstrap_servers: str, *arguments: str) -> Said:
    """Run the tool; what its logging says on standard error is left out, and so are stack traces."""
    done = subprocess.run(
        _command(_OF_GROUPS, "group.ConsumerGroupCommand", bootstrap_servers, *arguments),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return Said(done.stdout, done.stderr)


@contextmanager
def console_share_consumer(bootstrap_servers: str, *arguments: str) -> Iterator[None]:
    """A member of a share group (KIP-932) that reads during the block."""
    command = _command(_OF_SHARES, "ConsoleShareConsumer", bootstrap_servers, *arguments)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as reading:
        try:
            yield
        finally:
            reading.terminate()


def _command(
    modules: Sequence[str], tool: str, bootstrap_servers: str, *arguments: str
) -> list[str]:
    wanted = _IVY_MODULE.format("".join(map(_DEPENDENCY.format, modules)))
    jars: list[Path] = [*_jars("tools", wanted), *broker_jars()]
    return [
        *(java(), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
        *("-Dlog4j2.level=OFF", "-cp", ":".join(map(str, jars))),
        f"org.apache.kafka.tools.consumer.{tool}",
        *("--bootstrap-server", bootstrap_servers, *arguments),
    ]
