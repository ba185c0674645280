"""What the stateful operator sends out: one text line each, told apart by its first character.

`R` and a response (the value for the responses topic), `L` and a row of coordinator_log, `D` and a dead letter; the
rest of the line is JSON. One narrow text column costs the operator least; the JVM splits the lines.
"""

from __future__ import annotations

from base64 import b64encode
from typing import NamedTuple

import msgspec

from group_coordinator.codecs import records, responses
from group_coordinator.codecs.events import InvalidEventError
from group_coordinator.core.coordinator import Step

RESPONSE, LOG, DEAD_LETTER = "R", "L", "D"


class Source(NamedTuple):
    """Where an event stands in the events topic."""

    topic: str
    partition: int
    offset: int

    @property
    def event_id(self) -> str:
        """The id that a response carries, to drop repeats by."""
        return f"{self.topic}-{self.partition}-{self.offset}"


class LogRow(msgspec.Struct):
    """A row of coordinator_log as far as the operator knows it; `seq` is the line's place in the call."""

    group_id: str
    record_type: int
    key: str
    value: str | None
    topic: str | None
    partition: int | None
    member_id: str | None
    offset: int | None
    reason: str
    principal: str | None
    event_time_ms: int
    source_partition: int | None
    source_offset: int | None
    seq: int


class DeadLetterRow(msgspec.Struct):
    """An event that could not be taken; `value` is its bytes in base64."""

    group_id: str
    source_partition: int | None
    source_offset: int | None
    reason: str
    value: str | None
    event_time_ms: int


_encode = msgspec.json.Encoder().encode


class OutputLines:
    """Collects the lines of one call for one group."""

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.lines: list[str] = []

    def step(self, step: Step, source: Source | None, principal: str | None) -> None:
        """The records and the wanted replies of an event, or of a deadline, which has no source."""
        for record in step.records:
            entry = records.log_entry(self.group_id, record)
            row = LogRow(
                self.group_id,
                entry.record_type,
                entry.key,
                entry.value,
                entry.topic,
                entry.partition,
                entry.member_id,
                entry.offset,
                record.reason,
                principal,
                step.at_ms,
                source.partition if source else None,
                source.offset if source else None,
                len(self.lines),
            )
            self.lines.append(LOG + _encode(row).decode())
        for reply in step.replies:
            if reply.ticket.correlation_id is not None:
                text = responses.encode(self.group_id, reply, step.at_ms)
                self.lines.append(RESPONSE + text)

    def refusal(self, source: Source, fault: InvalidEventError, at_ms: int) -> None:
        """The answer to an event that did not become a request."""
        text = responses.encode_refusal(self.group_id, source.event_id, fault, at_ms)
        self.lines.append(RESPONSE + text)

    def dead_letter(
        self, source: Source | None, reason: str, value: bytes | None, at_ms: int
    ) -> None:
        """Keep an event, or a deadline without source, that could not be taken."""
        row = DeadLetterRow(
            self.group_id,
            source.partition if source else None,
            source.offset if source else None,
            reason,
            None if value is None else b64encode(value).decode(),
            at_ms,
        )
        self.lines.append(DEAD_LETTER + _encode(row).decode())
