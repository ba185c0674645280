"""`groups` beside Kafka's kafka-consumer-groups, on the same groups of the same coordinator: byte for byte."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner
from deltalake import write_deltalake
from kafka import KafkaAdminClient, OffsetAndMetadata, TopicPartition
from pyarrow import table

from group_coordinator.cli.groups import command
from group_coordinator.clients.admin.client import AdminClient
from group_coordinator.clients.channel.channel import RequestChannel
from group_coordinator.clients.member.member import GroupMember
from group_coordinator.clients.member.options import MemberOptions
from group_coordinator.local.broker import EmbeddedBroker
from tests.broker.clients.fleet import polled, until_all_have
from tests.broker.clients.kafka_tool import Said, kafka_consumer_groups
from tests.broker.clients.topics import Topics

pytestmark = [pytest.mark.kafka, pytest.mark.usefixtures("cluster_topics", "coordinator", "groups")]

REFUNDS = "refunds-and-complaints"
COUNTS = {"orders": 6, REFUNDS: 2}
Ours = Callable[..., tuple[int, str, str]]
Theirs = Callable[..., Said]


@pytest.fixture(scope="module")
def groups(
    admin: AdminClient, channel: RequestChannel, topic_ids: Mapping[str, str]
) -> Iterator[None]:
    """Classic groups: one with two members and offsets, one with a static member, one that only stores offsets.

    Consumer groups: one with a static member, an empty one, and one that has a classic member too.
    """
    restore(admin)
    idle = modern_member(channel, topic_ids, "modern-and-idle", "gone")
    idle.join()
    idle.leave()
    members = [
        member(channel, "billing-with-a-long-name", "first", ["orders", REFUNDS]),
        member(channel, "billing-with-a-long-name", "second-client-with-a-name", ["orders"]),
        member(channel, "static", "third", ["orders"], instance="instance-1"),
    ]
    modern = [
        modern_member(channel, topic_ids, "modern-with-a-long-name", "fourth", REFUNDS),
        modern_member(channel, topic_ids, "modern-with-a-long-name", "fifth", instance="till-1"),
    ]
    moving = [member(channel, "moving", "old", ["orders"])]
    moving[0].join()
    moving.append(modern_member(channel, topic_ids, "moving", "new"))
    everybody = [*members, *modern, *moving]
    with polled(everybody):
        until_all_have(members[:2], 8)
        until_all_have(members[2:], 6)
        until_all_have(modern, 8, at_least=2)
        until_all_have(moving, 6, at_least=2)
        members[0].commit_async(
            {TopicPartition("orders", 0): 1, TopicPartition(REFUNDS, 0): 0}
        ).result().all()
        yield
    for one in everybody:
        one.leave()


def restore(admin: AdminClient) -> None:
    """The group that the tests delete things of."""
    admin.alter_consumer_group_offsets(
        "simple",
        {
            TopicPartition("orders", 0): 3,
            TopicPartition("orders", 1): OffsetAndMetadata(9, "", 0),
            TopicPartition(REFUNDS, 1): 0,
        },
    ).all()


def member(
    channel: RequestChannel, group: str, name: str, topics: list[str], instance: str | None = None
) -> GroupMember:
    options = MemberOptions(
        client_id=name,
        group_instance_id=instance,
        session_timeout_ms=30_000,
        rebalance_timeout_ms=10_000,
        heartbeat_interval_ms=300,
    )
    return GroupMember(channel, group, topics, COUNTS, options=options)


def modern_member(
    channel: RequestChannel,
    topic_ids: Mapping[str, str],
    group: str,
    name: str,
    *more_topics: str,
    instance: str | None = None,
) -> GroupMember:
    options = MemberOptions(client_id=name, group_instance_id=instance, group_protocol="consumer")
    topics = ["orders", *more_topics]
    return GroupMember(channel, group, topics, topic_ids=topic_ids, options=options)


@pytest.fixture
def ours(broker: EmbeddedBroker, topics: Topics, tmp_path: Path) -> Ours:
    def run(*arguments: str) -> tuple[int, str, str]:
        settings = {
            "bootstrap.servers": broker.bootstrap_servers,
            "events.topic": topics.events,
            "responses.topic": topics.responses,
            "tables.root": tmp_path,
        }
        overrides = [
            text for key, value in settings.items() for text in ("--set", f"{key}={value}")
        ]
        result = CliRunner().invoke(command, [*arguments, *overrides])
        return result.exit_code, result.stdout, result.stderr

    return run


@pytest.fixture
def theirs(broker: EmbeddedBroker) -> Theirs:
    return lambda *arguments: kafka_consumer_groups(broker.bootstrap_servers, *arguments)


ALL = (
    *("--group", "billing-with-a-long-name", "--group", "simple", "--group", "static"),
    *("--group", "modern-with-a-long-name", "--group", "modern-and-idle", "--group", "moving"),
)


def test_describe(ours: Ours, theirs: Theirs) -> None:
    for view in (
        (),
        ("--offsets", "--verbose"),
        ("--members",),
        ("--members", "--verbose"),
        ("--state",),
        ("--state", "--verbose"),
    ):
        expected = theirs("--describe", *ALL, *view)

        assert ours("--describe", *ALL, *view) == (0, expected.out, expected.err), view


def test_describe_a_group_that_is_not_there(ours: Ours, theirs: Theirs) -> None:
    """Kafka's tool prints errors to stdout, with a stack trace on stderr, and ends with 0."""
    expected = theirs("--describe", "--group", "unknown")

    assert ours("--describe", "--group", "unknown") == (1, "", expected.out)


def test_list(ours: Ours, theirs: Theirs, kafka_admin: KafkaAdminClient, tmp_path: Path) -> None:
    listed = kafka_admin.list_groups()
    columns = ("group_id", "group_type", "group_state", "protocol_type")
    by_column = {
        column.removeprefix("group_") if column == "group_state" else column: [
            one[column] for one in listed
        ]
        for column in columns
    }
    by_column["cluster_id"] = ["default"] * len(listed)
    write_deltalake(str(tmp_path / "groups"), table(by_column))

    for arguments in (
        (),
        ("--state",),
        ("--type",),
        ("--state", "stable", "--type"),
        ("--type", "consumer"),
    ):
        expected = theirs("--list", *arguments)

        status, out, err = ours("--list", *arguments)

        assert (status, err) == (0, "")
        assert sorted(out.splitlines()) == sorted(expected.out.splitlines())


def test_delete(ours: Ours, theirs: Theirs, admin: AdminClient) -> None:
    busy, idle = ("--group", "static"), ("--group", "simple")
    restore(admin)
    expected = theirs("--delete", *busy, *idle)
    restore(admin)

    status, out, err = ours("--delete", *busy, *idle)

    assert (status, err + out) == (1, expected.out)
    assert out == "\nThese consumer groups were deleted successfully: 'simple'\n"


def test_delete_what_can_be_deleted(ours: Ours, theirs: Theirs, admin: AdminClient) -> None:
    restore(admin)
    expected = theirs("--delete", "--group", "simple")
    restore(admin)

    assert ours("--delete", "--group", "simple") == (0, expected.out, "")


def test_delete_offsets(ours: Ours, theirs: Theirs, admin: AdminClient) -> None:
    restore(admin)
    arguments = (
        *("--delete-offsets", "--group", "simple"),
        *("--topic", "orders:0,2", "--topic", REFUNDS),
    )

    assert ours(*arguments) == (0, theirs(*arguments).out, "")


@pytest.mark.parametrize(
    "arguments",
    [
        "--group static --topic orders --topic refunds-and-complaints:0",
        "--group unknown --topic orders:0,1",
        "--group simple --topic orders:0,9 --topic nowhere",
    ],
)
def test_delete_offsets_that_cannot_be_deleted(ours: Ours, theirs: Theirs, arguments: str) -> None:
    expected = theirs("--delete-offsets", *arguments.split())

    status, out, err = ours("--delete-offsets", *arguments.split())

    assert (status, err + out) == (1, expected.out)
    assert err.startswith("\nError: ")
    assert out.startswith("\nTOPIC ")
