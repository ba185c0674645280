"""`groups --describe`: offsets, members and states, each with its rows and its columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import click
from kafka import OffsetAndMetadata, TopicPartition

from group_coordinator.cli.groups.output import ActionContext, TextColumn, print_failure_of_group
from group_coordinator.clients.admin.descriptions import GroupDescription, MemberDescription
from group_coordinator.clients.cluster.cluster import Broker


@dataclass(frozen=True, slots=True)
class OffsetLine:
    """Partition that is assigned, committed, or both; a field without a value is None."""

    group_id: str
    partition: TopicPartition
    committed: OffsetAndMetadata | None
    end_offset: int | None
    member: MemberDescription | None

    @property
    def offset(self) -> int | None:
        return int(self.committed.offset) if self.committed else None

    @property
    def leader_epoch(self) -> int | None:
        """Leader epoch of the commit; None: unknown."""
        if self.committed is None or self.committed.leader_epoch < 0:
            return None
        return int(self.committed.leader_epoch)

    @property
    def lag(self) -> int | None:
        if self.offset is None or self.end_offset is None:
            return None
        return self.end_offset - self.offset


def _of_member(attribute: str) -> Callable[[Any], object]:
    return lambda row: getattr(row.member, attribute) if row.member else None


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


def offset_rows(
    group: GroupDescription,
    offsets: Mapping[TopicPartition, OffsetAndMetadata | None],
    ends: Mapping[TopicPartition, int],
) -> list[OffsetLine]:
    """Rows of the members with the most partitions first, then the committed partitions without a member."""
    # Their rows have `-` in the columns of the member.
    unassigned = set(offsets) - assigned_partitions(group)
    owned: list[tuple[MemberDescription | None, Iterable[TopicPartition]]] = [
        (member, member.assignment)
        for member in sorted(group.members, key=lambda member: -len(member.assignment))
    ]
    return [
        OffsetLine(group.group_id, partition, offsets.get(partition), ends.get(partition), member)
        for member, partitions in [*owned, (None, unassigned)]
        for partition in sorted(partitions)
    ]


def has_lag(row: OffsetLine) -> bool:
    return row.lag is not None and row.lag > 0


def assigned_partitions(group: GroupDescription) -> set[TopicPartition]:
    return {partition for member in group.members for partition in member.assignment}


@dataclass(frozen=True, slots=True)
class MemberLine:
    """Member of a group with its target assignment."""

    group_id: str
    member: MemberDescription
    target_epoch: int | None
    """Epoch of the target assignment, the same for the whole group; None: a classic group."""

    @property
    def assignment(self) -> str | None:
        return _shown(self.member.assignment)

    @property
    def target_assignment(self) -> str | None:
        return _shown(self.member.target_assignment)

    @property
    def upgraded(self) -> str | None:
        """Use of the consumer protocol, as Java writes a boolean."""
        upgraded = self.member.upgraded
        return None if upgraded is None else str(upgraded).lower()


def _shown(partitions: Iterable[TopicPartition]) -> str | None:
    """Partitions in the form of Kafka's tool: topic1:0,1;topic2:2."""
    topics: dict[str, list[int]] = {}
    for topic, number in sorted(partitions):
        topics.setdefault(topic, []).append(number)
    # The texts are sorted, not the topics: orders-2:0 comes before orders:0.
    texts = sorted(f"{topic}:{','.join(map(str, numbers))}" for topic, numbers in topics.items())
    return ";".join(texts) or None


def _partitions(partitions: Collection[TopicPartition]) -> object:
    return [{"topic": topic, "partition": number} for topic, number in sorted(partitions)]


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


def member_rows(group: GroupDescription) -> list[MemberLine]:
    return [
        MemberLine(group.group_id, member, group.target_assignment_epoch)
        for member in group.members
    ]


def member_columns(rows: Sequence[Any], last: Sequence[TextColumn]) -> list[TextColumn]:
    """Columns of --members, with the instance ids if a member is static."""
    instance = INSTANCE if any(row.member.group_instance_id for row in rows) else ()
    is_mixed = {row.member.upgraded for row in rows} >= {True, False}
    upgraded = UPGRADED if last is ASSIGNMENTS and is_mixed else ()
    return [*MEMBERS[:2], *instance, *MEMBERS[2:], *last, *upgraded]


@dataclass(frozen=True, slots=True)
class StateRow:
    """Whole group; its coordinator is the leader of its partition of the events topic."""

    group: GroupDescription
    coordinator: Broker | None


def _coordinator(row: StateRow) -> str | None:
    broker = row.coordinator
    return f"{broker.host}:{broker.port}  ({broker.broker_id})" if broker else None


def _broker(row: StateRow) -> object:
    broker = row.coordinator
    return {"host": broker.host, "port": broker.port, "id": broker.broker_id} if broker else None


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


def notice(group: GroupDescription) -> str | None:
    """Kafka's message on stderr before the table of a group that is not Stable."""
    match group.state:
        case "Empty":
            return f"\nConsumer group '{group.group_id}' has no active members."
        case "PreparingRebalance" | "CompletingRebalance" | "Assigning" | "Reconciling":
            return f"\nWarning: Consumer group '{group.group_id}' is rebalancing."
        case _:
            return None


def describe_offsets(
    session: ActionContext,
    groups: Collection[str],
    columns: Sequence[TextColumn],
    is_wanted: Callable[[OffsetLine], bool],
) -> bool:
    descriptions = session.admin.describe_consumer_groups(groups)
    # Groups with an error have no rows.
    living = _living(descriptions.values())
    offsets = session.admin.list_offsets_of_groups([group.group_id for group in living])
    ends = session.cluster.end_offsets(
        {partition for committed in offsets.values() for partition in committed}
        # Assigned partitions without a commit have a row too.
        | {partition for group in living for partition in assigned_partitions(group)}
    )
    for group in living:
        every = offset_rows(group, offsets[group.group_id], ends)
        rows = [row for row in every if is_wanted(row)]
        if rows or not every:
            _print_notice(group)
        if rows:
            session.show_table(columns, rows)
    return _print_failures(descriptions.values())


def describe_members(
    session: ActionContext, groups: Collection[str], last: Sequence[TextColumn]
) -> bool:
    descriptions = session.admin.describe_consumer_groups(groups)
    for group in _living(descriptions.values()):
        _print_notice(group)
        rows = member_rows(group)
        session.show_table(member_columns(rows, last), rows)
    return _print_failures(descriptions.values())


def describe_states(
    session: ActionContext, groups: Collection[str], columns: Sequence[TextColumn]
) -> bool:
    admin = session.admin
    descriptions = admin.describe_consumer_groups(groups)
    living = _living(descriptions.values())
    names = [group.group_id for group in living]
    leaders = session.cluster.leaders_of_keys(admin.events_topic, names)
    for group in living:
        _print_notice(group)
        row = StateRow(group, leaders.get(group.group_id))
        session.show_table(columns, [row])
    return _print_failures(descriptions.values())


def _living(groups: Collection[GroupDescription]) -> list[GroupDescription]:
    return sorted(
        (group for group in groups if group.error is None), key=lambda group: group.group_id
    )


def _print_notice(group: GroupDescription) -> None:
    text = notice(group)
    if text is not None:
        click.echo(text, err=True)


def _print_failures(groups: Collection[GroupDescription]) -> bool:
    # Errors follow the tables, so that a wrong name does not hide the other groups as in Kafka's tool.
    failed = {group.group_id: group.error for group in groups if group.error is not None}
    for group, error in failed.items():
        print_failure_of_group(group, error)
    return not failed
