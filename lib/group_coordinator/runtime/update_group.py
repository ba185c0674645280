"""One call of the operator, without Spark: a group and its events in, its next state and outputs out.

The result depends only on the group state, the group's events in order of partition and offset, and the batch's time: the division
of events into batches makes no difference. So time is also read from the events topic (clock rules 1 to 3 and 6, lib/README.md):

- An event's time is its record's timestamp, but at most the batch's time plus the slack, by which clocks may differ. A group's clock,
  the time of its last event or fired deadline, never goes back: an event with an earlier time is handled at the clock's time.
- Before an event is handled, each deadline that is due by its time fires, in order and at its own time. Deadlines that an event makes
  due fire right after that event.
- After the last event, the deadlines fire that are due by the batch's time minus the slack, in which earlier events may be read.
- While a backlog is read, timers are suspended (streaming/source.py): no deadline fires after the last event.

Handling of internal errors: the affected events become dead letters, and other groups continue.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from group_coordinator.codecs import events, snapshots
from group_coordinator.codecs.events import Event, InvalidEventError
from group_coordinator.codecs.snapshots import SnapshotError, SnapshotVersionError
from group_coordinator.core import coordinator
from group_coordinator.core.acls import Authorizer, Rights
from group_coordinator.core.apis import error_response
from group_coordinator.core.coordinator import Step, is_admitted
from group_coordinator.core.deadlines import Outages
from group_coordinator.core.model.classic_member import ClassicState
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.requests import ReadState
from group_coordinator.core.model.responses import Reply
from group_coordinator.core.offsets.pending import awaited_markers
from group_coordinator.core.topics import NOTHING, NeededTopics, missing_topics, topic_need
from group_coordinator.runtime.basis import Basis
from group_coordinator.runtime.event_handling import (
    event_id_at,
    is_of_the_job,
    result_of_invalid,
    rights_of,
    take,
    ticket_of,
)
from group_coordinator.runtime.outputs import EventRow, Outputs, Piece, ResponseRow
from group_coordinator.runtime.what_if import ScratchFolder, usual_scratch


class UnknownStateVersionError(Exception):
    """A state in the checkpoint that a later version of this program wrote."""


DEFECT = "defect: "
"""The beginning of a dead letter's reason that reports an internal error."""

NOT_OURS = (MemoryError, OSError, UnknownStateVersionError, SnapshotVersionError)
"""Failures of this machine or of this installation. They fail the task, as another attempt may succeed."""

OF_THE_WHOLE_CALL = (*NOT_OURS, SnapshotError)
"""Errors that end a whole call. A corrupt state may show in the middle of an event, and half of an event must not be kept."""


def describe(defect: Exception) -> str:
    """Return the reason of a dead letter for an internal error."""
    return f"{DEFECT}{type(defect).__name__}: {defect}"


def is_defect(reason: str) -> bool:
    """Return True if a dead letter reports an internal error. These are counted."""
    return reason.startswith(DEFECT)


def letters_of_a_whole_call(
    group_id: str, rows: Iterable[EventRow], defect: Exception, at_ms: int, scratch: ScratchFolder
) -> Iterable[Piece]:
    """Return the outputs of a failed call: one dead letter for the group, then one for each event."""
    letters = Outputs(Group(group_id), scratch)
    reason = describe(defect)
    letters.dead_letter(None, reason, at_ms)
    for row in rows:
        letters.dead_letter(row, reason, at_ms)
    return letters


_REBALANCING = (ClassicState.PREPARING_REBALANCE, ClassicState.COMPLETING_REBALANCE)
_TOPICS_ON_THE_WAY = "The group's topics are being looked up."


class GroupUpdate(NamedTuple):
    """The result of a call: `state` is the group's snapshot; None: the group has no data. `deadline_ms` is the next deadline."""

    state: bytes | None
    pieces: Iterable[Piece]
    deadline_ms: int | None


@dataclass(frozen=True, slots=True)
class UpdateContext:
    """The settings of a batch, equal for all groups and in each repetition. `timers_suspended`: clock rule 6; `outages`: clock rule 8."""

    config: CoordinatorConfig
    events_topic: str
    timer_slack_ms: int
    timers_suspended: bool
    outages: Outages = ()
    asks_for_topics: bool = False
    """True: groups output their topic subscriptions. A background task sends them topic metadata (driver/tasks/topic_metadata.py)."""
    follows_markers: bool = False
    """True: groups output the markers that they await. A background task reads these (driver/tasks/transaction_markers.py)."""
    reports_rebalancing: bool = False
    """True: classic groups output that they rebalance, for gauges (driver/metrics)."""
    acls: Authorizer | None = None
    """The cluster's ACLs; None: every operation is allowed, Kafka's default."""
    checks_acls: bool = False
    """True: each batch has its own ACLs (streaming/task_properties.py)."""
    basis: Basis | None = None
    """The basis of this batch, for gateways; None: it is about to change."""
    scratch: ScratchFolder = usual_scratch
    """The folder for outputs that exceed the memory limit."""


def update_group(
    group: Group, rows: Iterable[EventRow], batch_time_ms: int, context: UpdateContext
) -> GroupUpdate:
    """Handle the events of a batch and fire the deadlines that are due by then. The group changes."""
    run = _GroupRun(group, context)
    need_before = topic_need(group) if context.asks_for_topics else NOTHING
    awaited_before = awaited_markers(group) if context.follows_markers else {}
    rebalancing_before = _rebalancing(group) if context.reports_rebalancing else None
    for row in rows:
        run.take(row, min(row.timestamp_ms, batch_time_ms + context.timer_slack_ms))
    if not context.timers_suspended:
        run.pass_time(batch_time_ms - context.timer_slack_ms)
    if context.asks_for_topics:
        run.ask_for_topics(need_before)
    if context.follows_markers:
        run.say_awaited_markers(awaited_before)
    if context.reports_rebalancing:
        run.say_rebalancing(rebalancing_before)
    if group.is_forgotten:
        return GroupUpdate(None, run.output, None)
    deadline_ms = coordinator.next_deadline(group, context.config, context.outages)
    return GroupUpdate(snapshots.dump(group), run.output, deadline_ms)


def responses_to(group: Group, row: EventRow, context: UpdateContext) -> list[bytes]:
    """Handle one event as the job does, and return the responses as the job writes them. The group changes.

    Raises one of OF_THE_WHOLE_CALL.
    """
    run = _GroupRun(group, context)
    run.take(row, row.timestamp_ms)
    outputs = [output for piece in run.output for output in piece.outputs]
    return [output.value for output in outputs if isinstance(output, ResponseRow)]


def _rebalancing(group: Group) -> str | None:
    # No record has these two states: a rebalance is only in memory, as in Kafka.
    classic = group.classic
    return classic.state.value if classic is not None and classic.state in _REBALANCING else None


class _GroupRun:
    def __init__(self, group: Group, context: UpdateContext) -> None:
        self.group = group
        self.context = context
        self.output = Outputs(group, context.scratch)
        self._lacked_topics = group.topics is None
        self._unmet_need: NeededTopics | None = None

    def take(self, row: EventRow, now_ms: int) -> None:
        # A group without data has no clock, also if it had some in the same batch.
        if not self.group.is_forgotten:
            now_ms = max(now_ms, self.group.clock_ms)
        # An internal error costs only the event that raised it; OF_THE_WHOLE_CALL ends the call.
        self.pass_time(now_ms)
        rights = None
        try:
            event = self._decode(row)
            if self.context.acls is not None:
                rights = rights_of(event, self.context.acls)
            self._apply(event, row, now_ms, rights)
        except InvalidEventError as fault:
            self._invalid(row, now_ms, fault)
        except OF_THE_WHOLE_CALL:
            raise
        except Exception as defect:  # noqa: BLE001 - a group must not stop the stream; the event is kept and counted
            self.output.dead_letter(row, describe(defect), now_ms)
        self.pass_time(now_ms, rights)

    def pass_time(self, to_ms: int, rights: Rights | None = None) -> None:
        """Fire the deadlines due by `to_ms`. After an internal error the due deadlines are dropped, or they would fire for ever.

        `rights` are the rights of the sender of the event right before.
        """
        if self.group.wake_ms > to_ms:
            return
        try:
            for step in coordinator.advance(
                self.group, to_ms, self.context.config, self.context.outages, rights
            ):
                self.output.step(step, None, None)
        except OF_THE_WHOLE_CALL:
            raise
        except Exception as defect:  # noqa: BLE001 - as for an event
            coordinator.drop_deadlines(self.group, to_ms)
            self.output.dead_letter(None, describe(defect), to_ms)

    def _decode(self, row: EventRow) -> Event:
        if row.value is None:
            raise InvalidEventError(row.key_fault or "the value is null", ErrorCode.INVALID_REQUEST)
        events.check_size(row.cut_from or len(row.value), self.context.config)
        if row.key_fault is not None:
            raise events.unfit(row.value, row.key_fault, ErrorCode.INVALID_REQUEST)
        event = events.decode(row.value)
        if event.request.group_id != self.group.group_id:
            reason = f"groupId = {event.request.group_id!r}: differs from the record's key"
            raise events.unfit(row.value, reason, ErrorCode.INVALID_REQUEST)
        return event

    def _apply(self, event: Event, row: EventRow, now_ms: int, rights: Rights | None) -> None:
        event_id = self._event_id(row)
        step = self._wait_for_topics(event, event_id, now_ms, rights)
        if step is None:
            config = self.context.config
            step = take(self.group, event, event_id, now_ms=now_ms, config=config, rights=rights)
            if isinstance(event.request, ReadState):
                step = self._with_basis(step, event.request)
        # No user requested the events that the job sends itself.
        principal = None if is_of_the_job(event) else event.principal
        self.output.step(step, row, principal)
        if rights is not None:
            self.output.denials(row, event, rights, now_ms)

    def _wait_for_topics(
        self, event: Event, event_id: str, now_ms: int, rights: Rights | None
    ) -> Step | None:
        """Return an error response for a request that needs ids of topics which the group does not know yet; clients retry.

        The error is our own, not Kafka's. An upgrade waits only in a job that sends topic metadata; a rebuilt group had topic
        metadata before.
        """
        need = missing_topics(self.group, event.request)
        if need is None or not (self.context.asks_for_topics or self.group.consumer):
            return None
        if rights is not None and not is_admitted(event.request, rights, event.version):
            return None  # the authorization failure comes first
        self._unmet_need = need
        self.group.clock_ms = now_ms
        response = error_response(
            event.request, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, _TOPICS_ON_THE_WAY
        )
        return Step(now_ms, [], [Reply(ticket_of(event, event_id), response)])

    def _with_basis(self, step: Step, request: ReadState) -> Step:
        basis = self.context.basis
        if basis is None:
            return step
        self.output.state_read()
        unknown = None if request.known_basis_id == basis.id else basis.encoded
        responses = [
            reply.response.replace(basis_id=basis.id, basis=unknown) for reply in step.replies
        ]
        pairs = zip(step.replies, responses, strict=True)
        return step.replace(replies=[reply.replace(response=each) for reply, each in pairs])

    def ask_for_topics(self, need_before: NeededTopics) -> None:
        # Repeated until topic metadata has arrived, also by a heartbeat: an output may be lost with its reader.
        need = self._unmet_need or topic_need(self.group)
        if need != need_before or (need != NOTHING and self._lacked_topics):
            self.output.topic_need(need)

    def say_awaited_markers(self, awaited_before: dict[int, int]) -> None:
        # Repeated in each call, so that a rebuilt checkpoint reads it too.
        awaited = awaited_markers(self.group)
        if awaited or awaited_before:
            self.output.awaited_markers(awaited)

    def say_rebalancing(self, before: str | None) -> None:
        # Repeated in each call: a restarted driver has forgotten the state. The end is output once.
        state = _rebalancing(self.group)
        if state is not None or before is not None:
            self.output.rebalancing(state)

    def _event_id(self, row: EventRow) -> str:
        return event_id_at(self.context.events_topic, row.partition, row.offset)

    def _invalid(self, row: EventRow, now_ms: int, fault: InvalidEventError) -> None:
        result = result_of_invalid(fault)
        if result.is_answered:
            self.output.invalid_event(self._event_id(row), fault, now_ms)
        if result.is_dead_letter:
            self.output.dead_letter(row, str(fault), now_ms)
