"""What is asked of Kafka's tools, in order; FOLDER stands for a folder of the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

_TOOLS = "org.apache.kafka.tools"
CONSUMER_GROUPS = f"{_TOOLS}.consumer.group.ConsumerGroupCommand"
LIVE = frozenset({"live-classic", "live-consumer"})
"""Groups with a console consumer that stays."""
_RECORDS = "".join(f"key-{number}:value-{number}\n" for number in range(20))


class Step(NamedTuple):
    """A command."""

    tool: str
    arguments: Sequence[str]
    input: str = ""
    status: int = 0

    def __str__(self) -> str:
        return " ".join((self.tool.rpartition(".")[2], *self.arguments))


def groups(*arguments: str, status: int = 0) -> Step:
    """kafka-consumer-groups."""
    return Step(CONSUMER_GROUPS, arguments, status=status)


def _all_groups(*arguments: str) -> Step:
    return Step(f"{_TOOLS}.GroupsCommand", arguments)


def _configs(*arguments: str, status: int = 0) -> Step:
    return Step("kafka.admin.ConfigCommand", arguments, status=status)


def _topics(*arguments: str) -> Step:
    return Step(f"{_TOOLS}.TopicCommand", arguments)


def _consumed(group_id: str, protocol: str) -> Step:
    arguments = ("--topic", "orders", "--group", group_id, "--from-beginning")
    ends = ("--max-messages", "20", "--timeout-ms", "30000")
    chosen = ("--command-property", f"group.protocol={protocol}")
    return Step(f"{_TOOLS}.consumer.ConsoleConsumer", (*arguments, *ends, *chosen))


def _reset(group_id: str, *how: str, status: int = 0) -> Step:
    return groups("--reset-offsets", "--group", group_id, *how, status=status)


def preparation() -> list[Step]:
    """The topics, and records in one of them."""
    keys = ("--reader-property", "parse.key=true", "--reader-property", "key.separator=:")
    return [
        _topics("--create", "--topic", "orders", "--partitions", "4"),
        _topics("--create", "--topic", "payments", "--partitions", "1"),
        Step(f"{_TOOLS}.ConsoleProducer", ("--topic", "orders", *keys), _RECORDS),
    ]


def the_whole_story() -> list[Step]:
    """From the first consumer to the last deletion."""
    return [
        *the_fast_part(),
        *_lists(),
        *_described(),
        *_resets(),
        *_deletions(),
        *_settings(),
        _topics("--describe", "--topic", "orders"),
        Step(f"{_TOOLS}.GetOffsetShell", ("--topic", "orders")),
    ]


def the_fast_part() -> list[Step]:
    """Consumers of both protocols and a look at what they left."""
    return [
        _consumed("shop", "classic"),
        _consumed("office", "consumer"),
        groups("--list", "--state"),
        groups("--describe", "--all-groups"),
        groups("--describe", "--all-groups", "--state"),
        _reset("shop", "--topic", "orders:0,1", "--to-offset", "1", "--execute"),
        groups("--delete-offsets", "--group", "office", "--topic", "orders:3"),
        groups("--delete", "--group", "office"),
        groups("--list"),
    ]


def _lists() -> Iterator[Step]:
    for filters in (
        (),
        ("--state",),
        ("--type",),
        ("--state", "stable"),
        ("--state", "Empty,PreparingRebalance"),
        ("--type", "consumer"),
        ("--type", "Classic"),
        ("--state", "--type"),
    ):
        yield groups("--list", *filters)
    for filters in ((), ("--group-type", "consumer"), ("--consumer",), ("--protocol", "consumer")):
        yield _all_groups("--list", *filters)


def _described() -> Iterator[Step]:
    for group_id in ("shop", *sorted(LIVE)):
        for kind in (
            ("--state", "--verbose"),
            ("--members", "--verbose"),
            ("--offsets", "--verbose"),
        ):
            yield groups("--describe", "--group", group_id, *kind)
    yield groups("--describe", "--group", "nothing")
    for kind in ("--offsets", "--state", "--members"):
        yield groups("--describe", "--all-groups", kind)
    yield groups("--validate-regex", "ord.*")


def _resets() -> Iterator[Step]:
    whole = ("--all-topics", "--execute")
    yield _reset("shop", "--topic", "orders", "--to-earliest", "--dry-run")
    yield _reset("shop", "--topic", "orders", "--to-earliest")
    yield _reset("shop", "--to-latest", *whole)
    yield _reset("shop", "--shift-by", "-2", *whole)
    yield _reset("shop", "--to-current", *whole)
    yield _reset("shop", "--to-datetime", "2020-01-01T00:00:00.000", *whole)
    yield _reset("shop", "--topic", "orders", "--to-offset", "1000", "--execute")
    yield _reset("shop", "--topic", "payments", "--to-offset", "0", "--execute")
    yield _reset("shop", "--all-topics", "--to-current", "--export")
    yield _reset("new", "--topic", "orders", "--to-earliest", "--execute")
    yield groups("--describe", "--group", "shop")
    yield groups("--describe", "--group", "new")
    for group_id in sorted(LIVE):
        yield _reset(group_id, "--topic", "orders", "--to-earliest", "--execute")


def _deletions() -> Iterator[Step]:
    for group_id, topic in (
        ("shop", "orders:0"),
        ("shop", "payments"),
        ("shop", "nowhere"),
        ("nothing", "orders"),
        *((group_id, "orders") for group_id in sorted(LIVE)),
    ):
        yield groups("--delete-offsets", "--group", group_id, "--topic", topic)
    yield groups("--describe", "--group", "shop")
    for group_id in ("shop", "new", "nothing", *sorted(LIVE)):
        yield groups("--delete", "--group", group_id)
    yield groups("--delete", "--group", "shop", "--group", "nothing")
    yield groups("--list", "--state")


def _settings() -> Iterator[Step]:
    of_group = ("--entity-type", "groups", "--entity-name", "live-consumer")
    timeouts = "consumer.session.timeout.ms=50000,consumer.heartbeat.interval.ms=6000"
    yield _configs("--describe", *of_group)
    yield _configs("--alter", *of_group, "--add-config", timeouts)
    yield _configs("--describe", *of_group)
    yield _configs("--describe", "--all", *of_group)
    yield _configs("--describe", "--entity-type", "groups")
    yield _configs("--alter", *of_group, "--delete-config", "consumer.session.timeout.ms")
    yield _configs("--describe", *of_group)
    for bad in ("consumer.session.timeout.ms=1", "consumer.session.timeout.ms=x", "nothing=1"):
        yield _configs("--alter", *of_group, "--add-config", bad, status=1)
    yield _configs("--describe", "--group", "shop")
    yield _configs("--describe", "--entity-type", "topics", "--entity-name", "orders")
