"""The outputs of one call of the stateful operator, in order: what its host sends on, or keeps.

A response and the key and value of a record are JSON already: nobody has to parse them again.
"""

from __future__ import annotations

import pickle
from base64 import b64encode
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

import msgspec

from group_coordinator.codecs import responses
from group_coordinator.codecs.events import Event, InvalidEventError
from group_coordinator.codecs.fields import Int32, Int64
from group_coordinator.codecs.records import log_entry
from group_coordinator.core.acls.rights import Rights
from group_coordinator.core.apis import api_of
from group_coordinator.core.coordinator import Step
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import Record
from group_coordinator.core.topics.needs import TopicNeed
from group_coordinator.runtime.packing import EventRow
from group_coordinator.runtime.spill_file import ScratchFolder, SpillFile, usual_scratch


class Response(msgspec.Struct, gc=False):
    """A value for the responses topic; `partition` is the one that the client reads, None: that of the group."""

    partition: int | None
    value: bytes


class Responses(NamedTuple):
    """Of one group, one a line; for a partition of the responses topic, None: that of the group."""

    group_id: str
    partition: int | None
    lines: bytes


class LogRow(msgspec.Struct, gc=False):
    """A row of coordinator_log as far as the operator knows it; `seq` is the output's place in the call.

    Key and value are JSON in UTF-8.
    """

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
    """An event that could not be taken; `value` is its bytes in base64."""

    group_id: str
    source_partition: Int32 | None
    source_offset: Int64 | None
    reason: str
    value: str | None
    event_time_ms: Int64


class TopicNeedLine(msgspec.Struct, gc=False):
    """The topics that a group must know from now on; both empty: it needs none."""

    group_id: str
    names: tuple[str, ...]
    regexes: tuple[str, ...]


class AwaitedMarkersLine(msgspec.Struct, gc=False):
    """The producers whose markers a group waits for, each with the first offset at which one may be; empty: for none."""

    group_id: str
    since: dict[int, int]


class RebalancingLine(msgspec.Struct, gc=False):
    """The state of a classic group that rebalances, which the log does not have; None: it does so no longer."""

    group_id: str
    state: str | None


class DenialRow(msgspec.Struct, gc=False):
    """A right that the sender of an event lacked; principal and host are as the event says."""

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
    Response
    | LogRow
    | DeadLetterRow
    | TopicNeedLine
    | AwaitedMarkersLine
    | RebalancingLine
    | DenialRow
)


class Piece(NamedTuple):
    """Some outputs in order, and about how much memory they take."""

    outputs: Sequence[Output]
    bytes: int


_PIECE_BYTES = 4 * 1024 * 1024
"""A piece ends with the first output that reaches this size. The outputs of a call may be gigabytes; a value in Arrow or
in the JVM must not be."""
_MOST_DENIALS = 100
"""Of one event: it may name tens of thousands of topics."""
_FEW_BYTES = 200
"""Of an output's numbers and names."""

_encode = msgspec.json.Encoder().encode


class Outputs:
    """The outputs of one call for one group; all pieces but the last are on disk."""

    def __init__(self, group: Group, scratch: ScratchFolder = usual_scratch) -> None:
        self.group_id = group.group_id
        self._scratch = scratch
        self._group = group
        self._count = 0
        self._held: list[Output] = []
        self._bytes = 0
        self._pieces: SpillFile | None = None

    def __iter__(self) -> Iterator[Piece]:
        """The pieces in order."""
        for piece in self._pieces or ():
            yield Piece(*pickle.loads(piece))  # noqa: S301 - a file of our own that has no name
        if self._held:
            yield Piece(self._held, self._bytes)

    def step(self, step: Step, source: EventRow | None, principal: str | None) -> None:
        """Add the records, and the replies that somebody waits for, of an event, or of a deadline: it has no source."""
        for record in step.records:
            row = self._log_row(record, step.at_ms, source, principal)
            self._add(row, len(row.key) + len(row.value or b""))
        for reply in step.replies:
            if reply.ticket.correlation_id is not None:
                content = responses.to_json(self.group_id, reply, step.at_ms)
                self._respond(reply.ticket.reply_partition, content)

    def _log_row(
        self, record: Record, at_ms: int, source: EventRow | None, principal: str | None
    ) -> LogRow:
        entry = log_entry.encode(self.group_id, record, self._group.topics)
        return LogRow(
            self.group_id,
            entry.key.type,
            _encode(entry.key),
            None if entry.value is None else _encode(entry.value),
            entry.topic,
            entry.partition,
            entry.member_id,
            entry.offset,
            record.reason,
            principal,
            at_ms,
            source.partition if source else None,
            source.offset if source else None,
            self._count,
        )

    def refusal(self, event_id: str, fault: InvalidEventError, at_ms: int) -> None:
        """Add the answer to an event that did not become a request."""
        content = responses.refusal_to_json(self.group_id, event_id, fault, at_ms)
        self._respond(fault.reply_partition, content)

    def dead_letter(self, source: EventRow | None, reason: str, at_ms: int) -> None:
        """Add an event that could not be taken, or a deadline: it has no source.

        An event keeps its own time: events without a key come from all partitions and belong to no group's clock.
        """
        value = source.value if source else None
        row = DeadLetterRow(
            self.group_id,
            source.partition if source else None,
            source.offset if source else None,
            reason,
            None if value is None else b64encode(value).decode(),
            source.timestamp_ms if source else at_ms,
        )
        self._add(row, len(row.value or "") + len(reason))

    def denials(self, source: EventRow, event: Event, rights: Rights, at_ms: int) -> None:
        """Add what the sender of an event was denied, and of very much the first."""
        for denial in rights.denials[:_MOST_DENIALS]:
            row = DenialRow(
                self.group_id,
                source.partition,
                source.offset,
                api_of(event.request).name,
                rights.caller.principal,
                event.client_host,
                denial.operation,
                denial.resource_type,
                denial.resource_name,
                at_ms,
            )
            self._add(row, len(row.principal) + len(row.client_host) + len(row.resource_name))

    def topic_need(self, need: TopicNeed) -> None:
        """Add the topics that the group must know."""
        row = TopicNeedLine(self.group_id, need.names, need.regexes)
        self._add(row, sum(map(len, need.names + need.regexes)))

    def awaited_markers(self, since: dict[int, int]) -> None:
        """Add the markers that the group waits for."""
        self._add(AwaitedMarkersLine(self.group_id, since), 40 * len(since))

    def rebalancing(self, state: str | None) -> None:
        """Add the state of a group that rebalances, or that it does not any more."""
        self._add(RebalancingLine(self.group_id, state), 0)

    def _respond(self, partition: int | None, content: object) -> None:
        value = _encode(content)
        self._add(Response(partition, value), len(value))

    def _add(self, output: Output, size: int) -> None:
        self._held.append(output)
        self._count += 1
        self._bytes += size + _FEW_BYTES
        if self._bytes >= _PIECE_BYTES:
            self._cut()

    def _cut(self) -> None:
        if self._pieces is None:
            self._pieces = SpillFile(self._scratch)
        self._pieces.append(pickle.dumps((self._held, self._bytes)))
        self._held, self._bytes = [], 0
