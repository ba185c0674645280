"""Output of `groups`: tables, byte for byte as kafka-consumer-groups prints them, or a JSON or YAML document."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple, Protocol

import click
import yaml
from kafka import TopicPartition
from msgspec import json

from group_coordinator.cli.groups.describe import PartitionStatus, StateRow
from group_coordinator.cli.user_errors import visible_json
from group_coordinator.clients.errors import ClientError

_MISSING = "-"


class TextColumn(NamedTuple):
    """Column of a table; without `margin` it has a fixed width, which long texts exceed."""

    heading: str
    value: Callable[[Any], object]
    width: int = 15
    margin: int | None = None
    field: str | None = None
    """Field name in a document; None: the heading in lower case, empty: no field."""
    plain: Callable[[Any], object] | None = None
    """Value in a document; None: the same."""

    def wide_enough(self, texts: Sequence[str]) -> int:
        if self.margin is None:
            return self.width
        # Kafka's tool computes the same widths, which scripts may rely on.
        return max([self.width, *(len(text) + self.margin for text in texts)])


def table(columns: Sequence[TextColumn], rows: Sequence[object]) -> str:
    """Format headings and rows, `-` for a missing value; no line break at the end."""
    bodies = [[_text(column.value(row)) for row in rows] for column in columns]
    padded = [
        [text.ljust(column.wide_enough(body)) for text in (column.heading, *body)]
        for column, body in zip(columns, bodies, strict=True)
    ]
    return "\n".join(" ".join(line) for line in zip(*padded, strict=True))


def plain_row(columns: Sequence[TextColumn], row: object) -> dict[str, object]:
    return {
        _field(column): (column.plain or column.value)(row) for column in columns if _field(column)
    }


def _field(column: TextColumn) -> str:
    return column.heading.lower().replace("-", "_") if column.field is None else column.field


def _text(value: object) -> str:
    return _MISSING if value is None else str(value)


def _coordinator(row: StateRow) -> str | None:
    broker = row.coordinator
    return f"{broker.host}:{broker.port}  ({broker.broker_id})" if broker else None


def _broker(row: StateRow) -> object:
    broker = row.coordinator
    return {"host": broker.host, "port": broker.port, "id": broker.broker_id} if broker else None


def _partitions(partitions: Collection[TopicPartition]) -> object:
    return [{"topic": topic, "partition": number} for topic, number in sorted(partitions)]


def _error(error: ClientError | None) -> str | None:
    return error.kafka_text if error else None


def _known_partition(row: PartitionStatus) -> int | None:
    return int(row.partition.partition) if row.partition.partition >= 0 else None


def _of_member(attribute: str) -> Callable[[Any], object]:
    return lambda row: getattr(row.member, attribute) if row.member else None


_LISTED = TextColumn("GROUP", attrgetter("group_id"), 25, margin=10)
_TYPE = TextColumn("TYPE", lambda listing: listing.group_type.capitalize(), 20)
_STATE = TextColumn("STATE", attrgetter("state"), 20)
LISTING = {
    frozenset[str](): (_LISTED,),
    frozenset({"type"}): (_LISTED, _TYPE),
    frozenset({"state"}): (_LISTED, _STATE),
    frozenset({"type", "state"}): (_LISTED, _TYPE, _STATE),
}
"""Columns of --list by the wanted columns next to the name."""

_GROUP = TextColumn("GROUP", attrgetter("group_id"), margin=0)
_LEADER_EPOCH = TextColumn("LEADER-EPOCH", attrgetter("leader_epoch"))
OFFSETS_VERBOSE = (
    _GROUP,
    TextColumn("TOPIC", attrgetter("partition.topic"), margin=0),
    TextColumn("PARTITION", attrgetter("partition.partition"), 10),
    _LEADER_EPOCH,
    TextColumn("CURRENT-OFFSET", attrgetter("offset")),
    TextColumn("LOG-END-OFFSET", attrgetter("end_offset")),
    TextColumn("LAG", attrgetter("lag")),
    TextColumn("CONSUMER-ID", _of_member("member_id"), margin=0),
    TextColumn("HOST", _of_member("host"), margin=0),
    TextColumn("CLIENT-ID", _of_member("client_id"), 0),
)
OFFSETS = tuple(column for column in OFFSETS_VERBOSE if column is not _LEADER_EPOCH)

MEMBERS = (
    _GROUP,
    TextColumn("CONSUMER-ID", _of_member("member_id"), margin=0),
    TextColumn("HOST", _of_member("host"), margin=0),
    TextColumn("CLIENT-ID", _of_member("client_id"), margin=0),
    TextColumn("#PARTITIONS", lambda row: len(row.member.assignment), field="partition_count"),
)
END_OF_LINE = (TextColumn("", lambda _: "", 0, field=""),)
"""Column without a text: Kafka's tool leaves a blank where the verbose columns would begin."""
ASSIGNMENTS = (
    TextColumn("CURRENT-EPOCH", attrgetter("member.member_epoch")),
    TextColumn(
        "CURRENT-ASSIGNMENT",
        attrgetter("assignment"),
        20,
        margin=0,
        plain=lambda row: _partitions(row.member.assignment),
    ),
    TextColumn("TARGET-EPOCH", attrgetter("target_epoch")),
    TextColumn(
        "TARGET-ASSIGNMENT",
        attrgetter("target_assignment"),
        20,
        margin=0,
        plain=lambda row: _partitions(row.member.target_assignment),
    ),
)
UPGRADED = (TextColumn("UPGRADED", attrgetter("upgraded"), 0, plain=attrgetter("member.upgraded")),)
"""Last column of --members --verbose, while members of both protocols are in the group."""
INSTANCE = (
    TextColumn("GROUP-INSTANCE-ID", lambda row: row.member.group_instance_id or "", 17, margin=0),
)
"""Third column of --members, if a member of the group is static."""

_STATES = (
    TextColumn("GROUP", attrgetter("group.group_id"), margin=0),
    TextColumn("COORDINATOR (ID)", _coordinator, 25, margin=0, field="coordinator", plain=_broker),
    TextColumn("ASSIGNMENT-STRATEGY", lambda row: row.group.partition_assignor or None, 20),
    TextColumn("STATE", attrgetter("group.state"), 20),
)
_MEMBER_COUNT = TextColumn("#MEMBERS", lambda row: len(row.group.members), 0, field="member_count")
STATES = (*_STATES, _MEMBER_COUNT)
STATES_VERBOSE = (
    *_STATES,
    TextColumn("GROUP-EPOCH", attrgetter("group.group_epoch")),
    TextColumn("TARGET-ASSIGNMENT-EPOCH", attrgetter("group.target_assignment_epoch"), 25),
    _MEMBER_COUNT,
)

PARTITION_STATUSES = (
    TextColumn("TOPIC", attrgetter("partition.topic"), margin=0),
    TextColumn("PARTITION", _known_partition, 10),
    TextColumn("STATUS", attrgetter("text"), field="error", plain=lambda row: _error(row.error)),
)
DELETIONS = (
    TextColumn("GROUP", lambda row: row[0]),
    TextColumn("ERROR", lambda row: _error(row[1])),
)
"""Columns of documents only."""


class NewOffset(NamedTuple):
    """New offset of a partition in a reset."""

    group_id: str
    partition: TopicPartition
    offset: int


def new_offset_columns(groups: Collection[str]) -> list[TextColumn]:
    """Columns of --reset-offsets, wide enough for groups without rows too."""
    wide_enough = max([_GROUP.width, *map(len, groups)])
    return [
        _GROUP._replace(width=wide_enough),
        TextColumn("TOPIC", attrgetter("partition.topic"), margin=0),
        TextColumn("PARTITION", attrgetter("partition.partition"), 10),
        TextColumn("NEW-OFFSET", attrgetter("offset"), 0),
    ]


def member_columns(rows: Sequence[Any], last: Sequence[TextColumn]) -> list[TextColumn]:
    """Columns of --members, with the instance ids if a member is static."""
    instance = INSTANCE if any(row.member.group_instance_id for row in rows) else ()
    is_mixed = {row.member.upgraded for row in rows} >= {True, False}
    upgraded = UPGRADED if last is ASSIGNMENTS and is_mixed else ()
    return [*MEMBERS[:2], *instance, *MEMBERS[2:], *last, *upgraded]


class Output(Protocol):
    """Output format of results; errors and notices go to standard error in every format."""

    def say(self, text: str) -> None: ...
    def record(self, columns: Sequence[TextColumn], rows: Sequence[object]) -> None: ...
    def end(self) -> None: ...


class Text:
    """Output in the form of Kafka's tool."""

    def say(self, text: str) -> None:
        click.echo(text)

    def record(self, columns: Sequence[TextColumn], rows: Sequence[object]) -> None:
        """Do nothing, as the text has the rows."""

    def end(self) -> None:
        """Do nothing, as all is printed."""


class Document:
    """Array with an object for each row: field names are the headings of the columns, null is a missing value."""

    def __init__(self, encode: Callable[[Any], str]) -> None:
        self._encode = encode
        self._rows: list[Mapping[str, object]] = []

    def say(self, text: str) -> None:
        """Do nothing, as programs read the rows."""

    def record(self, columns: Sequence[TextColumn], rows: Sequence[object]) -> None:
        self._rows += [plain_row(columns, row) for row in rows]

    def end(self) -> None:
        click.echo(self._encode(self._rows))


def _json(rows: Any) -> str:
    return visible_json(json.format(json.encode(rows), indent=2).decode(), sys.stdout.encoding)


def _yaml(rows: Any) -> str:
    plain = _yaml_document(rows, allow_unicode=True)
    # PyYAML can only escape all non-ASCII characters or none.
    is_visible = visible_json(plain, sys.stdout.encoding) == plain
    return plain if is_visible else _yaml_document(rows, allow_unicode=False)


def _yaml_document(rows: Any, *, allow_unicode: bool) -> str:
    document: str = yaml.safe_dump(rows, allow_unicode=allow_unicode, sort_keys=False)
    return document.rstrip("\n")


FORMATS: Mapping[str, Callable[[], Output]] = {
    "table": Text,
    "json": lambda: Document(_json),
    "yaml": lambda: Document(_yaml),
}


def show_table(output: Output, columns: Sequence[TextColumn], rows: Sequence[object]) -> None:
    """Print a table below an empty line, and record its rows."""
    output.say(f"\n{table(columns, rows)}")
    output.record(columns, rows)
