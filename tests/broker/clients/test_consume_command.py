"""`consume` beside Kafka's kafka-console-consumer, on the same records and groups of the same coordinator."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import NamedTuple

import pytest
from kafka import KafkaAdminClient, KafkaProducer, TopicPartition
from kafka.admin import NewTopic

from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.local.jars import CONSOLE_CONSUMER, tool_command
from tests.broker.clients.fleet import DEADLINE_S
from tests.broker.clients.topics import Topics
from tests.support.until import until

pytestmark = [pytest.mark.kafka, pytest.mark.usefixtures("coordinator", "records")]

TOPIC, WORDS, PIPE = "consumed", "consumed-words", "consumed-by-a-pipe"
SENT_MS = 1_700_000_000_000
WITHOUT_GROUP = f"--topic {TOPIC} --partition 0"
ALL_FIELDS = " ".join(
    f"--formatter-property print.{field}=true"
    for field in ("timestamp", "partition", "offset", "delivery", "epoch", "headers", "key")
)
MODERN = "--command-property group.protocol=consumer"
INVOCATIONS = (
    f"{WITHOUT_GROUP} --offset earliest --max-messages 4 {ALL_FIELDS}",
    f"{WITHOUT_GROUP} --offset 2 --timeout-ms 8000 --formatter-property print.key=true --formatter-property key.separator=:",
    f"--topic {TOPIC} --partition +0 --from-beginning --max-messages -2 {ALL_FIELDS}",
    f"--topic {TOPIC} --partition 0 --offset +3 --max-messages +1 --formatter-property print.epoch=TRUE",
    f"--topic {TOPIC} --from-beginning --max-messages 3 --group console-GROUP {MODERN}",
)
"""GROUP is ours or theirs."""


class Said(NamedTuple):
    status: int
    out: bytes
    err: bytes


Ours = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture(scope="module")
def records(broker: EmbeddedBroker, kafka_admin: KafkaAdminClient) -> None:
    """Four records with and without key, value and headers; and ten in each of two partitions."""
    kept = {"retention.ms": "-1"}  # some say that they are years old
    topics = [
        NewTopic(TOPIC, 1, 1, topic_configs=kept),
        NewTopic(WORDS, 2, 1),
        NewTopic(PIPE, 1, 1),
    ]
    kafka_admin.create_topics(topics, wait_for_metadata=True)
    with closing(KafkaProducer(bootstrap_servers=broker.bootstrap_servers)) as producer:
        for key, value, headers in (
            (b"k1", b"v1", [("a", b"1"), ("b", b"2")]),
            (None, b"v2", []),
            (b"k3", None, [("c", b"x")]),
            (b"\xff\x00", b"\xfe\n1", []),
        ):
            producer.send(TOPIC, value, key, headers, partition=0, timestamp_ms=SENT_MS)
        producer.send(PIPE, b"1")
        for number in range(20):
            producer.send(WORDS, b"%d" % number, partition=number % 2)


@pytest.fixture
def ours(broker: EmbeddedBroker, topics: Topics) -> Ours:
    settings = (f"events.topic={topics.events}", f"responses.topic={topics.responses}")
    given = [word for each in settings for word in ("--set", each)]

    def start(*arguments: str) -> subprocess.Popen[bytes]:
        program = [sys.executable, "-m", "group_coordinator.cli.main", "consume"]
        servers = ("--bootstrap-server", broker.bootstrap_servers)
        return subprocess.Popen(  # noqa: S603 - a fixed program
            [*program, *servers, *given, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    return start


@contextmanager
def killed_at_last(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Popen's own `with` would wait for ever for one that does not end."""
    with process:
        try:
            yield
        finally:
            process.kill()


def said(process: subprocess.Popen[bytes]) -> Said:
    with killed_at_last(process):
        out, err = process.communicate(timeout=60)
    return Said(process.returncode, out, err)


def kafkas(broker: EmbeddedBroker, invocation: str) -> Said:
    servers = ("--bootstrap-server", broker.bootstrap_servers)
    return said(
        subprocess.Popen(  # noqa: S603 - a fixed program
            tool_command(CONSOLE_CONSUMER, *servers, *invocation.split()),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    )


def offsets(broker: EmbeddedBroker, group: str) -> dict[TopicPartition, int]:
    with closing(KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)) as admin:
        found = admin.list_group_offsets(group)[group]
    return {one: committed.offset for one, committed in found.items()}


def test_output_and_offsets_are_those_of_kafkas_tool(broker: EmbeddedBroker, ours: Ours) -> None:
    with ThreadPoolExecutor(2 * len(INVOCATIONS)) as pool:
        theirs = pool.map(lambda each: kafkas(broker, each.replace("GROUP", "theirs")), INVOCATIONS)
        own = pool.map(lambda each: said(ours(*each.replace("GROUP", "ours").split())), INVOCATIONS)

    assert [*own] == [*theirs]
    assert offsets(broker, "console-ours") == offsets(broker, "console-theirs")
    assert offsets(broker, "console-ours") == {TopicPartition(TOPIC, 0): 3}


@pytest.mark.parametrize(
    ("number", "protocol"), [(signal.SIGINT, "classic"), (signal.SIGTERM, "consumer")]
)
def test_a_signal_commits_and_leaves(
    broker: EmbeddedBroker,
    kafka_admin: KafkaAdminClient,
    ours: Ours,
    number: signal.Signals,
    protocol: str,
) -> None:
    group = f"console-{protocol}"
    words = ("--topic", WORDS, "--from-beginning", "--group", group)
    process = ours(*words, "--command-property", f"group.protocol={protocol}")
    with killed_at_last(process):
        assert process.stdout is not None
        found = [process.stdout.readline() for _ in range(20)]
        process.send_signal(number)
        out, err = process.communicate(timeout=30)

    assert sorted(found) == sorted(b"%d\n" % word for word in range(20))
    assert (process.returncode, out) == (128 + number, b"")
    assert err == b"Processed a total of 20 messages\n"
    assert offsets(broker, group) == {TopicPartition(WORDS, 0): 10, TopicPartition(WORDS, 1): 10}
    states = {each["group_id"]: each["group_state"] for each in kafka_admin.list_groups()}
    assert states[group] == "Empty"


def test_a_group_that_names_itself_leaves_no_offsets(
    broker: EmbeddedBroker, kafka_admin: KafkaAdminClient, ours: Ours
) -> None:
    def generated() -> set[str]:
        names = {group["group_id"] for group in kafka_admin.list_groups()}
        return {name for name in names if name.startswith("console-consumer-")}

    before = generated()
    words = ("--include", "consumed-w.*", "--from-beginning", "--max-messages", "20")
    process = ours(*words, *MODERN.split())
    with killed_at_last(process):
        [group] = until(
            lambda: generated() - before, seconds=DEADLINE_S, awaited="the group that names itself"
        )
        out, _ = process.communicate(timeout=60)

    assert (process.returncode, len(out.splitlines())) == (0, 20)
    assert offsets(broker, group) == {}


def test_who_reads_the_output_may_go(broker: EmbeddedBroker, ours: Ours) -> None:
    words = ("--topic", PIPE, "--partition", "0", "--from-beginning")
    with (
        closing(KafkaProducer(bootstrap_servers=broker.bootstrap_servers)) as producer,
        ours(*words) as process,
    ):
        assert process.stdout is not None
        assert process.stdout.readline() == b"1\n"
        process.stdout.close()
        producer.send(PIPE, b"2")
        producer.flush()
        status = process.wait(timeout=30)
        assert process.stderr is not None
        err = process.stderr.read()

    assert status == 0
    assert err.splitlines() == [
        b"Processed a total of 2 messages",
        b"Unable to write to standard out, closing consumer.",
    ]
