"""Kafka's own Java clients, each in a process of its own: they read on until their block ends."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.broker.clients.kafka_tool import CLIENTS, java_command

WORDS, COUNTED_WORDS = "streams-plaintext-input", "streams-wordcount-output"
"""The topics that WordCountDemo of kafka-streams-examples reads and writes."""


def repartitioned(group: str) -> str:
    """The topic between its two subtopologies."""
    return f"{group}-KSTREAM-AGGREGATE-STATE-STORE-0000000003-repartition"


@contextmanager
def console_consumer(servers: str, group: str, pattern: str, **options: str) -> Iterator[None]:
    """A consumer that subscribes by a Java pattern, reads all there is and commits at once; an underscore is a dot."""
    properties = {"auto_commit_interval_ms": "100"} | options
    named = [f"{key.replace('_', '.')}={value}" for key, value in properties.items()]
    command = java_command(
        CLIENTS,
        "org.apache.kafka.tools.consumer.ConsoleConsumer",
        *("--bootstrap-server", servers, "--group", group, "--include", pattern),
        "--from-beginning",
        *(word for each in named for word in ("--command-property", each)),
    )
    with _running(command):
        yield


@contextmanager
def console_share_consumer(servers: str, group: str, topic: str) -> Iterator[None]:
    """A member of a share group (KIP-932)."""
    command = java_command(
        CLIENTS,
        "org.apache.kafka.tools.consumer.ConsoleShareConsumer",
        *("--bootstrap-server", servers, "--group", group, "--topic", topic),
    )
    with _running(command):
        yield


@contextmanager
def word_count(servers: str, group: str, folder: Path, threads: int) -> Iterator[None]:
    """A streams group (KIP-1071) of so many members, which counts the words of WORDS: two tasks for each of its partitions.

    Args:
        servers: the broker's.
        group: the application's id.
        folder: where it keeps its settings and its state.
        threads: each is a member.
    """
    settings = {
        "bootstrap.servers": servers,
        "application.id": group,
        "group.protocol": "streams",
        "num.stream.threads": threads,
        "commit.interval.ms": 100,
        "state.dir": folder,
        # The other kind needs a library that is thirty times as large as Streams.
        "dsl.store.suppliers.class": "org.apache.kafka.streams.state.BuiltInDslStoreSuppliers$InMemoryDslStoreSuppliers",
    }
    file = folder / f"{group}.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    program = "org.apache.kafka.streams.examples.wordcount.WordCountDemo"
    with _running(java_command(CLIENTS, program, str(file))):
        yield


@contextmanager
def _running(command: list[str]) -> Iterator[None]:
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as client:  # noqa: S603 - a fixed program
        try:
            yield
        finally:
            client.terminate()
