"""What the tables say of a mirrored broker beside what Kafka's own tools print."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple

from tests.broker.clients.kafka_tool import (
    Said,
    kafka_consumer_groups,
    kafka_share_groups,
    kafka_streams_groups,
)

Ask = Callable[[str], list[tuple[Any, ...]]]
"""The rows that answer an SQL query of the tables."""
Told = list[tuple[str, ...]]


class Question(NamedTuple):
    """What a tool is asked, the columns of its answer, and the query that must give the same.

    The query's last column may be partitions, for a tool that prints them as tasks.
    """

    tool: Callable[..., Said]
    arguments: str
    columns: str
    query: str


QUESTIONS: Final = (
    Question(
        kafka_consumer_groups,
        "--describe --all-groups --members",
        "GROUP CONSUMER-ID GROUP-INSTANCE-ID HOST CLIENT-ID #PARTITIONS",
        """
        SELECT own.group_id, own.member_id, own.group_instance_id, own.client_host, own.client_id,
            cardinality(own.assigned_partitions)
        FROM members own JOIN groups known ON known.group_id = own.group_id
        WHERE known.group_type IN ('classic', 'consumer')
        """,
    ),
    # The tool leaves out the partitions of a topic that nobody has.
    Question(
        kafka_consumer_groups,
        "--describe --all-groups --offsets",
        "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID",
        """
        SELECT own.group_id, topic, "partition", committed_offset, log_end_offset, lag, member_id
        FROM lag own JOIN groups known ON known.group_id = own.group_id
        WHERE known.group_type IN ('classic', 'consumer') AND (committed_offset IS NOT NULL OR member_id IS NOT NULL)
        """,
    ),
    Question(
        kafka_share_groups,
        "--describe --all-groups --members",
        "GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS",
        """
        SELECT own.group_id, member_id, client_host, client_id, cardinality(assigned_partitions)
        FROM members own JOIN groups known ON known.group_id = own.group_id WHERE known.group_type = 'share'
        """,
    ),
    Question(
        kafka_share_groups,
        "--describe --all-groups --offsets",
        "GROUP TOPIC PARTITION START-OFFSET LAG",
        """
        SELECT own.group_id, topic, "partition", committed_offset, lag
        FROM lag own JOIN groups known ON known.group_id = own.group_id WHERE known.group_type = 'share'
        """,
    ),
    Question(
        kafka_streams_groups,
        "--describe --all-groups --members --verbose",
        "GROUP TARGET-ASSIGNMENT-EPOCH MEMBER MEMBER-EPOCH CLIENT-ID ASSIGNMENTS",
        """
        SELECT own.group_id, assignment_epoch, member_id, member_epoch, client_id, assigned_partitions
        FROM members own JOIN groups known ON known.group_id = own.group_id WHERE known.group_type = 'streams'
        """,
    ),
    # Of an empty group the tool says nothing.
    Question(
        kafka_streams_groups,
        "--describe --all-groups --offsets --verbose",
        "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET OFFSET-LAG",
        """
        SELECT own.group_id, topic, "partition", committed_offset, log_end_offset, lag
        FROM lag own JOIN groups known ON known.group_id = own.group_id
        WHERE known.group_type = 'streams' AND known.state <> 'Empty'
        """,
    ),
)


def check_like_the_tools(ask: Ask, servers: str, subtopologies: dict[str, str]) -> None:
    """Members, offsets and lags are equal, of every group of every kind.

    Args:
        ask: the tables.
        servers: the broker's.
        subtopologies: of the streams groups, by the topic that each reads.
    """
    with ThreadPoolExecutor(2) as tools:
        answers = [
            tools.submit(question.tool, servers, *question.arguments.split())
            for question in QUESTIONS
        ]
    for question, answer in zip(QUESTIONS, answers, strict=True):
        rows = [as_told(row, subtopologies) for row in ask(question.query)]
        assert sorted(rows) == told(answer.result().out, *question.columns.split())


def told(said: str, *names: str) -> Told:
    """Rows of the tables that a tool prints, one for each group; some have a column less, where no row has anything in it."""
    rows, header = [], ["GROUP"]
    for line in said.splitlines():
        words = line.split()
        if words[:1] == ["GROUP"]:
            header = words
        elif words and words[0] != "Consumer":
            # Only the last column has spaces in it: the tasks that a member has, and those that it is to have.
            *cells, last = line.split(maxsplit=len(header) - 1)
            found = dict(zip(header, (*cells, last.partition("TARGET-")[0].rstrip()), strict=True))
            rows.append(tuple(found.get(name, "-") for name in names))
    return sorted(rows)


def as_told(row: Iterable[Any], subtopologies: dict[str, str]) -> tuple[str, ...]:
    """A row as a tool prints it."""
    return tuple(
        _tasks(each, subtopologies)
        if isinstance(each, list)
        else "-"
        if each is None
        else str(each)
        for each in row
    )


def _tasks(partitions: list[dict[str, Any]], subtopologies: dict[str, str]) -> str:
    found = defaultdict(list)
    for each in partitions:
        found[subtopologies[each["topic"]]].append(each["partition"])
    tasks = (f"{name}:{sorted(found[name])};" for name in sorted(found))
    return " ".join(["ACTIVE:", *tasks])
