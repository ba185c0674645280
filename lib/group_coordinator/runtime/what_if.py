"""The effect of another retention on a group: its log is replayed with Kafka's rules of expiration.

Streams groups are replayed as consumer groups: offsets of both age from their commits, and offsets of topics that a member reads
cannot expire. Those topics are in the topology. Data that exceeds the memory limit of a call is kept in a temporary file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from struct import Struct
from tempfile import TemporaryFile
from typing import NamedTuple
from weakref import finalize

from group_coordinator.codecs.records import record_types
from group_coordinator.codecs.records.foreign_values import (
    STREAMS_READERS,
    StreamsMemberData,
    TopologyData,
)
from group_coordinator.codecs.records.newest_values import NewestValues, read
from group_coordinator.core.model.changes import Decision
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.consumer_member import GroupEpoch, SubscriptionMetadata
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import (
    ConsumerRecord,
    GroupEpochRecord,
    MemberRecord,
    OffsetRecord,
    Reason,
    Record,
    TransactionMarker,
)
from group_coordinator.core.model.timers import NEVER_MS
from group_coordinator.core.offsets.expiration import next_sweep, sweep
from group_coordinator.core.replay import apply
from group_coordinator.core.value import Value


class StreamsAsConsumers:
    """Converts the records of a streams group. It remembers the values of earlier records."""

    def __init__(self) -> None:
        self._values = NewestValues()

    def records(
        self, record_type: int, key: str, value: str | None, reason: Reason
    ) -> Iterator[ConsumerRecord]:
        """Yield the records that a consumer group would have written in place of a record of types 17 and 19 to 23.

        Raises RecordError: the record is not readable.
        """
        member_id = self._values.take(record_type, key, value, STREAMS_READERS)
        match record_type:
            case record_types.STREAMS_GROUP_EPOCH:
                found = read(self._values.group, record_type, STREAMS_READERS)
                epoch = None if found is None else GroupEpoch(found.epoch, found.metadata_hash)
                yield GroupEpochRecord(epoch, reason)
            case record_types.STREAMS_MEMBER_METADATA if member_id is not None:
                yield self._member(member_id, reason)
            case record_types.STREAMS_TOPOLOGY:
                # A new topology changes the topics of all members.
                for each in self._values.members:
                    yield self._member(each, reason)
            case _:
                pass  # assignments of tasks protect no offset

    def _member(self, member_id: str, reason: Reason) -> MemberRecord:
        values = self._values.members.get(member_id, {})
        member: StreamsMemberData | None = read(
            values, record_types.STREAMS_MEMBER_METADATA, STREAMS_READERS
        )
        if member is None:
            return MemberRecord(member_id, None, reason)
        topology: TopologyData | None = read(
            self._values.group, record_types.STREAMS_TOPOLOGY, STREAMS_READERS
        )
        metadata = SubscriptionMetadata(
            group_instance_id=member.instance_id,
            rack_id=member.rack_id,
            client_id=member.client_id,
            client_host=member.client_host,
            topic_names=() if topology is None else tuple(topology.topics),
            topic_regex=None,
            rebalance_timeout_ms=member.rebalance_timeout_ms,
            server_assignor=None,
            classic=None,
        )
        return MemberRecord(member_id, metadata, reason)


_BY_RETENTION = (Reason.OFFSET_EXPIRED, Reason.GROUP_EXPIRED)
"""Records written because of the old retention. The other retention decides these itself."""


class TimedRecord(NamedTuple):
    at_ms: int
    record: Record


class Removal(Value, frozen=True):
    """An offset that the other retention would have removed.

    committed_again_at_ms: the time of the group's next commit of the partition; None: there was none.
    lost_at_ms: the time before that at which the offset was in fact lost; None: it was not.
    """

    topic: str
    partition: int
    offset: int
    committed_at_ms: int
    removed_at_ms: int
    committed_again_at_ms: int | None = None
    lost_at_ms: int | None = None


class WhatIf:
    """A group under the retention of `config`. Group configurations and retention times in commits still take precedence.

    The log does not show rebalances, during which nothing expires. Here a rebalance takes no time.
    """

    def __init__(self, group_id: str, config: CoordinatorConfig) -> None:
        self._group = Group(group_id)
        self._config = config
        self._clock_ms = 0
        self._gone: dict[tuple[str, int], Removal] = {}
        self._done: list[Removal] = []

    def removals(self, log: Iterable[TimedRecord], until_ms: int) -> list[Removal]:
        """Return the offsets that would have been removed until `until_ms`, in the order of their removal."""
        for at_ms, record in log:
            self._pass_time(at_ms)
            self._note(at_ms, record)
            if record.reason not in _BY_RETENTION:
                self._make_room(record)
                apply(self._group, Decision([record], []), at_ms, self._config)
        self._pass_time(until_ms)
        found = [*self._done, *self._gone.values()]
        return sorted(found, key=lambda gone: (gone.removed_at_ms, gone.topic, gone.partition))

    def _pass_time(self, until_ms: int) -> None:
        # At the time of a sweep, the sweep precedes a request.
        group = self._group
        # Looking at all offsets for each record takes too long: `apply` lowers wake_ms instead.
        while group.wake_ms <= until_ms:
            due_ms = next_sweep(group, self._clock_ms, self._config)
            group.wake_ms = NEVER_MS if due_ms is None else due_ms
            if due_ms is not None and due_ms <= until_ms:
                self._sweep(due_ms)
        self._clock_ms = max(self._clock_ms, until_ms)

    def _sweep(self, now_ms: int) -> None:
        decision = sweep(self._group, now_ms, self._config)
        for record in decision.records:
            if isinstance(record, OffsetRecord):
                self._remove(record, now_ms)
        apply(self._group, decision, now_ms, self._config)
        self._clock_ms = now_ms

    def _remove(self, tombstone: OffsetRecord, at_ms: int) -> None:
        topic, partition = tombstone.topic, tombstone.partition
        lost = self._group.offsets[topic][partition]
        if lost.offset < 0:
            return  # Clients ignore an offset below 0.
        self._gone[topic, partition] = Removal(
            topic, partition, lost.offset, lost.commit_timestamp_ms, at_ms
        )

    def _note(self, at_ms: int, record: Record) -> None:
        # An offset that this retention removed may be committed again, or lost for another reason.
        match record:
            case OffsetRecord(value=None):
                gone = self._gone.get((record.topic, record.partition))
                if gone is not None and gone.lost_at_ms is None:
                    self._gone[record.topic, record.partition] = gone.replace(lost_at_ms=at_ms)
            case OffsetRecord(producer_id=None):
                self._note_commit(at_ms, record.topic, record.partition)
            case TransactionMarker():
                for topic, partition, _ in record.offsets:
                    self._note_commit(at_ms, topic, partition)
            case _:
                pass  # no other record is about a valid offset

    def _note_commit(self, at_ms: int, topic: str, partition: int) -> None:
        gone = self._gone.pop((topic, partition), None)
        if gone is not None:
            self._done.append(gone.replace(committed_again_at_ms=at_ms))

    def _make_room(self, record: Record) -> None:
        # A group that only this retention kept would block a group of the other kind with its name.
        classic = self._group.classic
        if (
            isinstance(record, ConsumerRecord)
            and record.value is not None
            and classic is not None
            and classic.protocol_type is not None
        ):
            self._group.membership = None


_SIZE = Struct(">I")

ScratchFolder = Callable[[], str | None]
"""A function that returns the folder for temporary files; None: Python's default. It is called for each new file."""


def usual_scratch() -> None:
    """Return None: Python's default folder."""


class SpillFile:
    """Byte strings in the order in which they were appended. The file lives as long as this object."""

    def __init__(self, scratch: ScratchFolder = usual_scratch) -> None:
        self._file = TemporaryFile(dir=scratch())  # noqa: SIM115 - see the next line
        finalize(self, self._file.close)

    def append(self, content: bytes) -> None:
        self._file.write(_SIZE.pack(len(content)))
        self._file.write(content)

    def __iter__(self) -> Iterator[bytes]:
        # Each iteration starts again: events may be read several times.
        self._file.seek(0)
        while size := self._file.read(_SIZE.size):
            yield self._file.read(*_SIZE.unpack(size))
