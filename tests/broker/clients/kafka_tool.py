"""Kafka's own tools of groups, to compare with; and how any Java program of Kafka's is started."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from group_coordinator.local.jars import java, tools_jars

CLIENTS: Final = (
    *("kafka-tools", "kafka-clients", "kafka-server-common"),
    *("kafka-streams", "kafka-streams-examples"),
)
"""What consumers of shares and of streams need: the client of their own version."""
ALL_TOOLS: Final = (
    *("kafka-tools", "kafka-clients", "kafka-server-common"),
    *("kafka-tools-api", "kafka_2.13", "kafka-server", "kafka-metadata", "kafka-raft"),
    *("kafka-storage", "kafka-storage-api", "kafka-coordinator-common", "kafka-share-coordinator"),
    *("kafka-group-coordinator", "kafka-group-coordinator-api", "kafka-transaction-coordinator"),
)
"""kafka-configs is a part of the broker, and all of that must be of one version."""
CSV: Final = ("com.fasterxml.jackson.dataformat:jackson-dataformat-csv:2.21.7",)
"""For --export and --from-file; its version is that of the broker's Jackson."""


class Said(NamedTuple):
    """What a command printed."""

    out: str
    err: str


def kafka_consumer_groups(bootstrap_servers: str, *arguments: str) -> Said:
    """Run the tool; what its logging says on standard error is left out, and so are stack traces."""
    tool = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
    return _said(tools_jars(ALL_TOOLS, CSV), tool, bootstrap_servers, *arguments)


def kafka_share_groups(bootstrap_servers: str, *arguments: str) -> Said:
    """As kafka_consumer_groups, for share groups."""
    tool = "org.apache.kafka.tools.consumer.group.ShareGroupCommand"
    return _said(tools_jars(CLIENTS), tool, bootstrap_servers, *arguments)


def kafka_streams_groups(bootstrap_servers: str, *arguments: str) -> Said:
    """As kafka_consumer_groups, for streams groups."""
    tool = "org.apache.kafka.tools.streams.StreamsGroupCommand"
    return _said(tools_jars(CLIENTS), tool, bootstrap_servers, *arguments)


def _said(jars: Sequence[Path], tool: str, bootstrap_servers: str, *arguments: str) -> Said:
    done = subprocess.run(  # noqa: S603 - a fixed program
        _java_command(jars, tool, "--bootstrap-server", bootstrap_servers, *arguments),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return Said(done.stdout, done.stderr)


def java_command(modules: Sequence[str], program: str, *arguments: str) -> list[str]:
    """How a program of these modules, or of the broker's, is started; it logs nothing."""
    return _java_command(tools_jars(modules), program, *arguments)


def _java_command(jars: Sequence[Path], program: str, *arguments: str) -> list[str]:
    return [
        *(java(), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
        *("-Dlog4j2.level=OFF", "-cp", ":".join(map(str, jars))),
        *(program, *arguments),
    ]
