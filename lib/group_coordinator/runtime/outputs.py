"""The outputs of a call of the operator, in order, and the packing of a Kafka record into one binary value, big endian.

    partition 4 bytes | offset 8 | timestamp in ms 8 | kind 1 | size of the value 4, -1: null | the value

The operator's cost is per column, so there is one column. Partition and offset are first, so packed records sort like their events.
A value that is longer than event.max.bytes is cut to that size: a compressed batch of a few bytes may hold records of gigabytes.
After a rebuild a group begins with a seed: a snapshot, packed like a record (streaming/rebuild). The seed sorts before all events.
"""

from __future__ import annotations

import pickle
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from struct import Struct
from typing import NamedTuple, TypeAlias

import msgspec

from group_coordinator.codecs import events
from group_coordinator.codecs.events import Event, InvalidEventError
from group_coordinator.codecs.fields import LONGEST_TEXT, Int32, Int64
from group_coordinator.codecs.records import log_entry
from group_coordinator.core.acls import Rights
from group_coordinator.core.apis import api_of
from group_coordinator.core.coordinator import Step
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import Record
from group_coordinator.core.topics import NeededTopics
from group_coordinator.runtime.what_if import ScratchFolder, SpillFile, usual_scratch

HEADER = Struct(">iqqBi")
_KIND_AT = 20

SEED, EVENT, ABSENT_KEY, BAD_KEY, LONG_KEY = 4, 5, 6, 7, 8
"""The kinds: a seed, an event, and events whose keys are not group ids. The seed sorts first, and is 4 in rebuilt checkpoints."""

KEY_FAULTS = {
    ABSENT_KEY: "the record's key is null",
    BAD_KEY: "the record's key is not UTF-8",
    LONG_KEY: f"the record's key is longer than {LONGEST_TEXT} bytes",
}


class EventRow(msgspec.Struct, frozen=True, gc=False):
    """A record of the events topic. `key_fault` is None for a key that is a group id; `cut_from` is the size of a cut value."""

    timestamp_ms: int
    partition: int
    offset: int
    key_fault: str | None
    value: bytes | None
    cut_from: int | None = None


def pack_seed(snapshot: bytes) -> bytes:
    """Pack the seed of a group that begins with this snapshot."""
    return HEADER.pack(0, 0, 0, SEED, len(snapshot)) + snapshot


def seed_of(packed: Iterable[bytes]) -> bytes | None:
    """Return the snapshot with which a group begins, or None. `packed` is sorted, so a seed is the first record."""
    first = next(iter(packed), None)
    if first is None or first[_KIND_AT] != SEED:
        return None
    return first[HEADER.size :]


def unpack(packed: Iterable[bytes]) -> Iterator[EventRow]:
    """Unpack records to event rows, in the same order. A seed is skipped."""
    for record in packed:
        partition, offset, timestamp_ms, kind, size = HEADER.unpack_from(record)
        # A seed is read by seed_of.
        if kind == SEED:
            continue
        value = None if size < 0 else record[HEADER.size :]
        # A cut value is shorter than the size that was packed with it.
        cut_from = size if value is not None and len(value) < size else None
        yield EventRow(
            timestamp_ms=timestamp_ms,
            partition=partition,
            offset=offset,
            key_fault=KEY_FAULTS.get(kind),
            value=value,
            cut_from=cut_from,
        )


class ResponseRow(msgspec.Struct, gc=False):
    """A value for the responses topic. `partition` is the client's reply partition; None: the group's partition."""

    partition: int | None
    value: bytes


class Responses(NamedTuple):
    """Responses of a group as lines of JSON, for a reply partition; None: the group's partition."""

    group_id: str
    partition: int | None
    lines: bytes


class LogRow(msgspec.Struct, gc=False):
    """A row of coordinator_log, with key and value as JSON in UTF-8, as far as the operator knows it. `seq` numbers the outputs."""

    group_id: str
    record_type: Int32
    key: bytes
    value: bytes | None
    topic: str | None
    partition: Int32 | None
    member_id: str | None
    offset: Int64 | None
    reason: str
    principal: str | None
    event_time_ms: Int64
    source_partition: Int32 | None
    source_offset: Int64 | None
    seq: Int32


class DeadLetterRow(msgspec.Struct, gc=False):
    """An invalid event. `value` is its bytes in base64."""

    group_id: str
    source_partition: Int32 | None
    source_offset: Int64 | None
    reason: str
    value: str | None
    event_time_ms: Int64


class TopicSubscriptionLine(msgspec.Struct, gc=False):
    """The topic subscription of a group. Both fields empty: the group needs no topics."""

    group_id: str
    names: tuple[str, ...]
    regexes: tuple[str, ...]


class AwaitedMarkersLine(msgspec.Struct, gc=False):
    """The producers whose transaction markers a group awaits, each with the first possible offset of the marker. Empty: none."""

    group_id: str
    since: dict[int, int]


class RebalancingLine(msgspec.Struct, gc=False):
    """The state of a rebalancing classic group, which is not in the log; None: the rebalance has ended."""

    group_id: str
    state: str | None


class StateReadLine(msgspec.Struct, gc=False):
    """A gateway has read the state of a group, and may answer by it from now on."""

    group_id: str


class DenialRow(msgspec.Struct, gc=False):
    """A missing right of the sender of an event. Principal and host are copied from the event."""

    group_id: str
    source_partition: Int32 | None
    source_offset: Int64 | None
    api: str
    principal: str
    client_host: str
    operation: str
    resource_type: str
    resource_name: str
    event_time_ms: Int64


Output: TypeAlias = (
    ResponseRow
    | LogRow
    | DeadLetterRow
    | TopicSubscriptionLine
    | AwaitedMarkersLine
    | RebalancingLine
    | StateReadLine
    | DenialRow
)


class Piece(NamedTuple):
    """Some outputs in order, and roughly their size in memory."""

    outputs: Sequence[Output]
    bytes: int


_PIECE_BYTES = 4 * 1024 * 1024
"""A piece ends with the first output that reaches this size: a value in Arrow or in the JVM must not have gigabytes."""
_MOST_DENIALS = 100
"""The limit for an event, which may name tens of thousands of topics."""
_FEW_BYTES = 200
"""The estimated size of an output's numbers and names."""

_encode = msgspec.json.Encoder().encode


class Outputs:
    """The outputs of a call for a group. All pieces but the last are on disk."""

    def __init__(self, group: Group, scratch: ScratchFolder = usual_scratch) -> None:
        self.group_id = group.group_id
        self._scratch = scratch
        self._group = group
        self._count = 0
        self._held: list[Output] = []
        self._bytes = 0
        self._pieces: SpillFile | None = None

    def __iter__(self) -> Iterator[Piece]:
        for piece in self._pieces or ():
            yield Piece(*pickle.loads(piece))  # noqa: S301 - a file of our own that has no name
        if self._held:
            yield Piece(self._held, self._bytes)

    def step(self, step: Step, source: EventRow | None, principal: str | None) -> None:
        """Add the records of an event or a deadline, and its responses that have a correlation id. A deadline has no source."""
        for record in step.records:
            row = self._log_row(record, step.at_ms, source, principal)
            self._add(row, len(row.key) + len(row.value or b""))
        for reply in step.replies:
            if reply.ticket.correlation_id is not None:
                content = events.to_json(self.group_id, reply, step.at_ms)
                self._respond(reply.ticket.reply_partition, content)

    def _log_row(
        self, record: Record, at_ms: int, source: EventRow | None, principal: str | None
    ) -> LogRow:
        entry = log_entry.encode(self.group_id, record, self._group.topics)
        return LogRow(
            group_id=self.group_id,
            record_type=entry.key.type,
            key=_encode(entry.key),
            value=None if entry.value is None else _encode(entry.value),
            topic=entry.topic,
            partition=entry.partition,
            member_id=entry.member_id,
            offset=entry.offset,
            reason=record.reason,
            principal=principal,
            event_time_ms=at_ms,
            source_partition=source.partition if source else None,
            source_offset=source.offset if source else None,
            seq=self._count,
        )

    def invalid_event(self, event_id: str, fault: InvalidEventError, at_ms: int) -> None:
        """Add the error response to an event that did not become a request."""
        content = events.error_response_to_json(self.group_id, event_id, fault, at_ms)
        self._respond(fault.reply_partition, content)

    def dead_letter(self, source: EventRow | None, reason: str, at_ms: int) -> None:
        """Add an invalid event with its own time, as it may belong to no group's clock; or a deadline that failed: no source."""
        value = source.value if source else None
        row = DeadLetterRow(
            group_id=self.group_id,
            source_partition=source.partition if source else None,
            source_offset=source.offset if source else None,
            reason=reason,
            value=None if value is None else b64encode(value).decode(),
            event_time_ms=source.timestamp_ms if source else at_ms,
        )
        self._add(row, len(row.value or "") + len(reason))

    def denials(self, source: EventRow, event: Event, rights: Rights, at_ms: int) -> None:
        """Add the denials of an event's sender, up to a limit."""
        for denial in rights.denials[:_MOST_DENIALS]:
            row = DenialRow(
                group_id=self.group_id,
                source_partition=source.partition,
                source_offset=source.offset,
                api=api_of(event.request).name,
                principal=rights.caller.principal,
                client_host=event.client_host,
                operation=denial.operation,
                resource_type=denial.resource_type,
                resource_name=denial.resource_name,
                event_time_ms=at_ms,
            )
            self._add(row, len(row.principal) + len(row.client_host) + len(row.resource_name))

    def topic_need(self, need: NeededTopics) -> None:
        row = TopicSubscriptionLine(self.group_id, need.names, need.regexes)
        self._add(row, sum(map(len, need.names + need.regexes)))

    def awaited_markers(self, since: dict[int, int]) -> None:
        # A producer id and an offset have up to 40 characters of JSON.
        self._add(AwaitedMarkersLine(self.group_id, since), 40 * len(since))

    def rebalancing(self, state: str | None) -> None:
        """Add the state of a rebalancing group; None: its rebalance has ended."""
        self._add(RebalancingLine(self.group_id, state), 0)

    def state_read(self) -> None:
        self._add(StateReadLine(self.group_id), 0)

    def _respond(self, partition: int | None, content: object) -> None:
        value = _encode(content)
        self._add(ResponseRow(partition, value), len(value))

    def _add(self, output: Output, size: int) -> None:
        self._held.append(output)
        self._count += 1
        self._bytes += size + _FEW_BYTES
        if self._bytes >= _PIECE_BYTES:
            # Most calls have few outputs, and need no file.
            if self._pieces is None:
                self._pieces = SpillFile(self._scratch)
            self._pieces.append(pickle.dumps((self._held, self._bytes)))
            self._held, self._bytes = [], 0
