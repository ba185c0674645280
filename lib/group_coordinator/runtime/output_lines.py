"""The outputs of the stateful operator: one text line each; the first character is its kind, the rest is JSON.

`R` is a response (the value for the responses topic; a number between the two is the partition that the client reads), `L` a row of coordinator_log, `D` a dead letter, `T` the topics
that a group must know, `M` the markers that it waits for. One narrow text column costs the operator least; the JVM splits the lines.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from typing import Any

import msgspec

from group_coordinator.codecs import responses
from group_coordinator.codecs.events import InvalidEventError
from group_coordinator.codecs.fields import Int32, Int64
from group_coordinator.codecs.records import log_entry
from group_coordinator.codecs.records.envelope import Key, Value
from group_coordinator.core.coordinator import Step
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import Record
from group_coordinator.core.topics.needs import TopicNeed
from group_coordinator.runtime.packing import EventRow
from group_coordinator.runtime.spill_file import ScratchFolder, SpillFile, usual_scratch

RESPONSE, LOG, DEAD_LETTER, TOPIC_NEED, AWAITED_MARKERS = "R", "L", "D", "T", "M"
_RESPONSE, _LOG, _DEAD_LETTER = RESPONSE.encode(), LOG.encode(), DEAD_LETTER.encode()
_TOPIC_NEED, _AWAITED_MARKERS = TOPIC_NEED.encode(), AWAITED_MARKERS.encode()


class LogRow(msgspec.Struct, gc=False):
    """A row of coordinator_log as far as the operator knows it; `seq` is the line's place in the call.

    Key and value are objects inside the line: Spark takes them out as texts, and nobody has to escape quotes.
    """

    group_id: str
    record_type: Int32
    key: Key[Any]
    value: Value[Any] | None
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


_PIECE_BYTES = 4 * 1024 * 1024
"""A text ends with the first line that reaches this size. The lines of a call may be gigabytes; a value in Arrow or in
the JVM must not be."""

_encode = msgspec.json.Encoder().encode


def _response_tag(reply_partition: int | None) -> bytes:
    return _RESPONSE if reply_partition is None else b"R%d" % reply_partition


class OutputLines:
    """The lines of one call for one group, as texts of several lines each; all texts but the last are on disk."""

    def __init__(self, group: Group, scratch: ScratchFolder = usual_scratch) -> None:
        self.group_id = group.group_id
        self._scratch = scratch
        self._group = group
        self._count = 0
        self._lines: list[bytes] = []
        self._bytes = 0
        self._pieces: SpillFile | None = None

    def __iter__(self) -> Iterator[str]:
        """The texts in order; no line break follows the last line of a text."""
        for piece in self._pieces or ():
            yield piece.decode()
        if self._lines:
            yield b"\n".join(self._lines).decode()

    def step(self, step: Step, source: EventRow | None, principal: str | None) -> None:
        """Add the records, and the replies that somebody waits for, of an event, or of a deadline: it has no source."""
        for record in step.records:
            self._add(_LOG, self._log_row(record, step.at_ms, source, principal))
        for reply in step.replies:
            if reply.ticket.correlation_id is not None:
                tag = _response_tag(reply.ticket.reply_partition)
                self._add(tag, responses.to_json(self.group_id, reply, step.at_ms))

    def _log_row(
        self, record: Record, at_ms: int, source: EventRow | None, principal: str | None
    ) -> LogRow:
        entry = log_entry.encode(self.group_id, record, self._group.topics)
        return LogRow(
            self.group_id,
            entry.key.type,
            entry.key,
            entry.value,
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
        tag = _response_tag(fault.reply_partition)
        self._add(tag, responses.refusal_to_json(self.group_id, event_id, fault, at_ms))

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
        self._add(_DEAD_LETTER, row)

    def topic_need(self, need: TopicNeed) -> None:
        """Add the topics that the group must know."""
        self._add(_TOPIC_NEED, TopicNeedLine(self.group_id, need.names, need.regexes))

    def awaited_markers(self, since: dict[int, int]) -> None:
        """Add the markers that the group waits for."""
        self._add(_AWAITED_MARKERS, AwaitedMarkersLine(self.group_id, since))

    def _add(self, tag: bytes, content: object) -> None:
        line = tag + _encode(content)
        self._lines.append(line)
        self._count += 1
        self._bytes += len(line)
        if self._bytes >= _PIECE_BYTES:
            self._cut()

    def _cut(self) -> None:
        if self._pieces is None:
            self._pieces = SpillFile(self._scratch)
        self._pieces.append(b"\n".join(self._lines))
        self._lines, self._bytes = [], 0
