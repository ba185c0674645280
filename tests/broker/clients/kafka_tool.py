"""Kafka's own kafka-consumer-groups, to compare with."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

from group_coordinator.local.jars import _jars, broker_jars
from group_coordinator.local.java import java

# The tool's other dependencies are on the broker's class path already.
_IVY_MODULE = """\
<ivy-module version="2.0">
  <info organisation="group-coordinator" module="jars"/>
  <configurations><conf name="default"/></configurations>
  <dependencies>
    <dependency org="org.apache.kafka" name="kafka-tools" rev="4.3.1" conf="default" transitive="false"/>
  </dependencies>
</ivy-module>
"""


class Said(NamedTuple):
    """What a command printed."""

    out: str
    err: str


def kafka_consumer_groups(bootstrap_servers: str, *arguments: str) -> Said:
    """Run the tool; what its logging says on standard error is left out, and so are stack traces."""
    jars: list[Path] = [*_jars("tools", _IVY_MODULE), *broker_jars()]
    done = subprocess.run(
        [
            *(java(), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
            *("-Dlog4j2.level=OFF", "-cp", ":".join(map(str, jars))),
            "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
            *("--bootstrap-server", bootstrap_servers, *arguments),
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return Said(done.stdout, done.stderr)
