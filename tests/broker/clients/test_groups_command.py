"""`groups` beside Kafka's kafka-consumer-groups, on the same groups of the same coordinator: byte for byte.

The tool runs in one process of Java and asks the broker; ours runs in this one, and its requests reach the same coordinator.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner
from deltalake import write_deltalake
from kafka import KafkaAdminClient, KafkaProducer, TopicPartition
from kafka.admin import NewTopic
from msgspec import json
from pyarrow import table

from group_coordinator.cli import groups as groups_command
from group_coordinator.clients.admin.client import AdminClient
from group_coordinator.local.broker import EmbeddedBroker
from tests.broker.clients.explained_differences import Said, expected_of_us, usage_error_of
from tests.broker.clients.groups_between_states import groups_between_states
from tests.broker.clients.groups_matrix import (
    BETWEEN_STATES,
    DELETIONS,
    DESCRIPTIONS,
    DRY_RUNS,
    EXECUTIONS,
    INVOICES,
    LISTS,
    PATTERNS,
    UNREADABLE,
    WRONG_USES,
)
from tests.broker.clients.groups_of_every_kind import groups_of_every_kind, restore
from tests.broker.clients.kafka_as_channel import KafkaAsChannel
from tests.broker.clients.side_by_side import SideBySide
from tests.broker.clients.topics import Topics
from tests.peers.suites.kafka_tools import KAFKA_TOOLS, tools_in_one_process
from tests.peers.suites.kafka_tools_story import CONSUMER_GROUPS
from tests.support.until import until

pytestmark = [pytest.mark.kafka, pytest.mark.usefixtures("groups")]

MINUTE = timedelta(minutes=1)
LOGGING = """\
appender.err.type = Console
appender.err.name = err
appender.err.target = SYSTEM_ERR
appender.err.follow = true
appender.err.layout.type = PatternLayout
appender.err.layout.pattern = %p %m%n
rootLogger.level = off
logger.tools.name = org.apache.kafka.tools
logger.tools.level = warn
logger.tools.appenderRef.err.ref = err
"""
Tool = Callable[[str], Said]


@pytest.fixture(scope="module")
def now() -> datetime:
    return datetime.now(UTC)


@pytest.fixture(scope="module")
def kafka(broker: EmbeddedBroker) -> Iterator[KafkaAsChannel]:
    with KafkaAsChannel(broker.bootstrap_servers) as channel:
        yield channel


@pytest.fixture(scope="module")
def same_kafka(broker: EmbeddedBroker, kafka: KafkaAsChannel) -> AdminClient:
    """A client of the coordinator that Kafka's tool asks."""
    return AdminClient(bootstrap_servers=broker.bootstrap_servers, channel=kafka)


@pytest.fixture(scope="module")
def invoices(broker: EmbeddedBroker, kafka_admin: KafkaAdminClient, now: datetime) -> None:
    """A topic with offsets 2 to 5 (its beginning is deleted) and 0 to 2; the last ones of the first partition are younger."""
    kafka_admin.create_topics([NewTopic(INVOICES, 2, 1)])
    with closing(KafkaProducer(bootstrap_servers=broker.bootstrap_servers)) as producer:
        for partition, minutes in ((0, (60, 60, 60, 20, 20, 20)), (1, (60, 60, 60))):
            for age in minutes:
                at_ms = int((now - age * MINUTE).timestamp() * 1_000)
                producer.send(INVOICES, b"x", partition=partition, timestamp_ms=at_ms)
    kafka_admin.delete_records({TopicPartition(INVOICES, 0): 2})


@pytest.fixture(scope="module")
def groups(
    kafka: KafkaAsChannel,
    same_kafka: AdminClient,
    topic_ids: Mapping[str, str],
    kafka_admin: KafkaAdminClient,
    invoices: None,  # noqa: ARG001
) -> Iterator[None]:
    def others_have_no_members() -> bool:
        return all(group["group_state"] in ("Empty", "Dead") for group in kafka_admin.list_groups())

    # A member that another test left behind would lapse between the two tools' looks.
    until(others_have_no_members, seconds=60, awaited="the end of other tests' members")
    with groups_of_every_kind(kafka, same_kafka, topic_ids):
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that command lines name."""
    made = tmp_path_factory.mktemp("groups")
    contents = {
        "log4j2.properties": LOGGING,
        "client.properties": "# für alle\nsecurity.protocol=plaintext\nrequest.timeout.ms=20000\n",
        "underscore.csv": f'"{INVOICES}",0,1_0\n',
        "plan.csv": f'"{INVOICES}",0,3\n"{INVOICES}",1,100\n',
        "plan-of-groups.csv": f'simple,orders,0,2\narchive,"{INVOICES}",1,0\n',
        "plan-of-archive.csv": f'archive,"{INVOICES}",1,0\n',
    }
    for name, text in contents.items():
        (made / name).write_text(text, encoding="latin-1")
    return made


@pytest.fixture(scope="module")
def words(folder: Path, now: datetime) -> Callable[[str], list[str]]:
    """A command line with its places filled in."""
    since = now - 40 * MINUTE
    paris = since.astimezone(timezone(timedelta(hours=2)))
    places = {
        "since": f"{since:%Y-%m-%dT%H:%M:%S}.000",
        "since_in_paris": f"{paris:%Y-%m-%dT%H:%M:%S}.000+02:00",
        "tomorrow": f"{now + timedelta(days=1):%Y-%m-%dT%H:%M:%S}.000",
        "folder": str(folder),
    }

    def fill(line: str) -> list[str]:
        for place, value in places.items():
            line = line.replace(f"{{{place}}}", value)
        return shlex.split(line)

    return fill


@pytest.fixture(scope="module")
def page() -> Iterator[SideBySide]:
    said = SideBySide()
    yield said
    said.write()


@pytest.fixture(scope="module")
def theirs(
    broker: EmbeddedBroker, folder: Path, words: Callable[[str], list[str]], page: SideBySide
) -> Iterator[Tool]:
    logging = f"-Dlog4j2.configurationFile={folder / 'log4j2.properties'}"
    with tools_in_one_process(KAFKA_TOOLS.obtain(), folder, logging) as tools:

        def run(line: str) -> Said:
            arguments = ["--bootstrap-server", _with_protocol(broker), *words(line)]
            asked = {"tool": CONSUMER_GROUPS, "arguments": arguments, "input": ""}
            [said] = tools.say(json.encode(asked).decode())
            page.theirs[line] = Said(said["status"], said["out"], said["err"])
            return page.theirs[line]

        yield run


def _with_protocol(broker: EmbeddedBroker) -> str:
    """Another one than the broker speaks: both tools ignore it."""
    return f"SASL_SSL://{broker.bootstrap_servers}"


@pytest.fixture
def ours(
    broker: EmbeddedBroker,
    kafka: KafkaAsChannel,
    topics: Topics,
    folder: Path,
    words: Callable[[str], list[str]],
    page: SideBySide,
    monkeypatch: pytest.MonkeyPatch,
) -> Tool:
    monkeypatch.setattr(groups_command, "AdminClient", partial(AdminClient, channel=kafka))
    overrides = {
        "bootstrap.servers": _with_protocol(broker),
        "events.topic": topics.events,
        "tables.root": folder,
    }
    settings = [text for key, value in overrides.items() for text in ("--set", f"{key}={value}")]

    def run(line: str) -> Said:
        result = CliRunner().invoke(groups_command.command, [*words(line), *settings])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        page.ours[line] = Said(result.exit_code, result.stdout, result.stderr)
        return page.ours[line]

    return run


@pytest.fixture
def between_states(
    kafka: KafkaAsChannel, same_kafka: AdminClient, topic_ids: Mapping[str, str]
) -> Iterator[None]:
    with groups_between_states(kafka, same_kafka, topic_ids):
        yield


@pytest.fixture
def tables(kafka_admin: KafkaAdminClient, folder: Path) -> None:
    """The table of groups as compaction would leave it."""
    listed = kafka_admin.list_groups()
    columns = ("group_id", "group_type", "group_state", "protocol_type")
    by_column = {
        column.removeprefix("group_") if column == "group_state" else column: [
            one[column] for one in listed
        ]
        for column in columns
    }
    by_column["cluster_id"] = ["default"] * len(listed)
    write_deltalake(str(folder / "groups"), table(by_column), mode="overwrite")


@pytest.fixture
def changing(same_kafka: AdminClient) -> Iterator[AdminClient]:
    """Before and after a test the groups are as they were."""
    restore(same_kafka)
    yield same_kafka
    restore(same_kafka)


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize("line", LISTS)
def test_list(ours: Tool, theirs: Tool, line: str) -> None:
    assert ours(line).in_any_order() == expected_of_us(theirs(line)).in_any_order()


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize("line", DESCRIPTIONS)
def test_describe(ours: Tool, theirs: Tool, line: str) -> None:
    assert ours(line) == expected_of_us(theirs(line))


@pytest.mark.usefixtures("between_states", "tables")
def test_groups_on_their_way(ours: Tool, theirs: Tool) -> None:
    for line in BETWEEN_STATES:
        assert ours(line).in_any_order() == expected_of_us(theirs(line)).in_any_order(), line


@pytest.mark.parametrize("line", DRY_RUNS)
def test_reset_dry_run(ours: Tool, theirs: Tool, line: str) -> None:
    line = f"--reset-offsets {line}"

    assert ours(line).in_any_order() == expected_of_us(theirs(line)).in_any_order()


@pytest.mark.parametrize("line", EXECUTIONS)
def test_reset(ours: Tool, theirs: Tool, changing: AdminClient, line: str) -> None:
    line = f"--reset-offsets {line}"
    expected = expected_of_us(theirs(line))
    left = changing.list_offsets_of_groups(["simple", "archive"])
    restore(changing)

    assert ours(line).in_any_order() == expected.in_any_order()
    assert changing.list_offsets_of_groups(["simple", "archive"]) == left


@pytest.mark.parametrize("line", DELETIONS)
def test_delete(ours: Tool, theirs: Tool, changing: AdminClient, line: str) -> None:
    expected = expected_of_us(theirs(line))
    restore(changing)

    assert ours(line) == expected


@pytest.mark.parametrize("pattern", PATTERNS)
def test_validate_regex(ours: Tool, theirs: Tool, pattern: str) -> None:
    line = f"--validate-regex {shlex.quote(pattern)}"
    expected = theirs(line)

    assert ours(line) == expected._replace(status=int(" is invalid: " in expected.out))


@pytest.mark.parametrize("value", UNREADABLE)
def test_unreadable_values(ours: Tool, theirs: Tool, value: str) -> None:
    line = f"--reset-offsets --group simple --all-topics --execute {value}"
    expected, said = theirs(line), ours(line)

    assert UNREADABLE[value] in expected.out + expected.err
    assert "NEW-OFFSET" not in expected.out
    assert (said.status, said.out) == (2, "")
    assert UNREADABLE[value] in said.err


@pytest.mark.parametrize("line", WRONG_USES)
def test_wrong_use(ours: Tool, theirs: Tool, line: str) -> None:
    assert usage_error_of(ours(line)).words() == expected_of_us(theirs(line)).words()


@pytest.mark.usefixtures("coordinator")
def test_the_same_through_the_topics(broker: EmbeddedBroker, topics: Topics, theirs: Tool) -> None:
    line = ["--describe", "--group", "simple", "--verbose"]
    settings = {
        "bootstrap.servers": broker.bootstrap_servers,
        "events.topic": topics.events,
        "responses.topic": topics.responses,
    }
    overrides = [text for key, value in settings.items() for text in ("--set", f"{key}={value}")]

    result = CliRunner().invoke(groups_command.command, [*line, *overrides])

    said = Said(result.exit_code, result.stdout, result.stderr)
    assert said == expected_of_us(theirs(" ".join(line)))
