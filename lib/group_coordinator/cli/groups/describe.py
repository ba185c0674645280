"""Rows of `groups`, from descriptions of the coordinator and offsets of the brokers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from kafka import OffsetAndMetadata, TopicPartition

from group_coordinator.clients.admin.descriptions import GroupDescription, MemberDescription
from group_coordinator.clients.cluster.cluster import Broker
from group_coordinator.clients.errors import ClientError


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


@dataclass(frozen=True, slots=True)
class StateRow:
    """Whole group; its coordinator is the leader of its partition of the events topic."""

    group: GroupDescription
    coordinator: Broker | None


@dataclass(frozen=True, slots=True)
class PartitionStatus:
    """Result of the deletion of a partition's offset; partition -1 is a topic that does not exist."""

    partition: TopicPartition
    error: ClientError | None

    @property
    def text(self) -> str:
        return f"Error: {self.error.kafka_text}" if self.error else "Successful"


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


def member_rows(group: GroupDescription) -> list[MemberLine]:
    return [
        MemberLine(group.group_id, member, group.target_assignment_epoch)
        for member in group.members
    ]


def partition_statuses(
    errors: Mapping[TopicPartition, ClientError | None],
) -> list[PartitionStatus]:
    # Kafka's tool compares topic and partition as one text: t10 comes before t2.
    return [
        PartitionStatus(partition, errors[partition])
        for partition in sorted(errors, key=lambda one: f"{one.topic}{one.partition}")
    ]


def notice(group: GroupDescription) -> str | None:
    """Kafka's message on stderr before the table of a group that is not Stable."""
    match group.state:
        case "Empty":
            return f"\nConsumer group '{group.group_id}' has no active members."
        case "PreparingRebalance" | "CompletingRebalance" | "Assigning" | "Reconciling":
            return f"\nWarning: Consumer group '{group.group_id}' is rebalancing."
        case _:
            return None


def quoted(groups: Collection[str]) -> str:
    return ", ".join(f"'{group}'" for group in groups)
