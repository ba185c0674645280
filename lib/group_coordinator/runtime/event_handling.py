"""Handling of an event, shared by the job, `replay-events` and tests, which differ in the source of events and time.

Deadlines that are due by an event's time fire before the event, and deadlines that the event makes due fire right after it. A new
member id is computed from the event, so that a repeated batch makes the same id.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple
from uuid import NAMESPACE_OID, UUID, uuid5

from group_coordinator.binary.notation import uuid_text
from group_coordinator.codecs.events import Event, InvalidEventError
from group_coordinator.core import coordinator
from group_coordinator.core.acls import (
    ANONYMOUS,
    THE_JOB,
    Authorizer,
    RequestSender,
    Rights,
    address_of,
)
from group_coordinator.core.coordinator import Step
from group_coordinator.core.model.classic_member import ReplyAddress
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.requests import (
    ConsumerGroupHeartbeat,
    EndTxn,
    JoinGroup,
    ReadState,
    RequestContext,
    TopicMetadata,
)


def fresh_id(event_id: str) -> str:
    """Return the uuid text (version 5) that ends the member id made for this event."""
    return str(uuid5(NAMESPACE_OID, event_id))


def short_id(event_id: str, new_id: Callable[[str], str] = fresh_id) -> str:
    """Return the 22 characters of a member id of a consumer group, as Kafka's Uuid prints them.

    Uuid.randomUuid rejects ids with a dash since Kafka 4.4; so does this function. The second id is made from "EVENT ID-2".
    """
    text, draws = uuid_text(UUID(new_id(event_id)).bytes), 1
    while "-" in text:
        draws += 1
        text = uuid_text(UUID(new_id(f"{event_id}-{draws}")).bytes)
    return text


_JOINS = (JoinGroup, ConsumerGroupHeartbeat)
"""The requests of members that may need a member id."""
_OF_THE_SYSTEM = (TopicMetadata, EndTxn, ReadState)


def event_id_at(topic: str, partition: int, offset: int) -> str:
    """Return the id of the event at these coordinates. Its responses have this id, so that readers can drop repetitions."""
    return f"{topic}-{partition}-{offset}"


def is_of_the_job(event: Event) -> bool:
    """Return True for topic metadata and transaction ends that the job sends itself, and for a gateway's ReadState."""
    return event.principal == THE_JOB and isinstance(event.request, _OF_THE_SYSTEM)


def rights_of(event: Event, acls: Authorizer) -> Rights | None:
    """Return the rights of an event's sender: the principal and address in the event. None: the job's own events need no rights."""
    if is_of_the_job(event):
        return None
    return Rights(acls, RequestSender(event.principal or ANONYMOUS, address_of(event.client_host)))


def take(  # noqa: PLR0913 - all that an event depends on
    group: Group,
    event: Event,
    event_id: str,
    *,
    now_ms: int,
    config: CoordinatorConfig,
    new_id: Callable[[str], str] = fresh_id,
    rights: Rights | None = None,
) -> Step:
    """Handle an event of a group. Deadlines due by `now_ms` must have fired before.

    `new_id` makes the uuid text of a new member id from the event's id. `rights` are the sender's; None: no rights are needed.
    Missing rights are in `rights.denials` afterwards.
    """
    # Only a member without an id needs a new one: making an id costs as much as a heartbeat.
    asks = isinstance(event.request, _JOINS) and not event.request.member_id
    context = RequestContext(
        now_ms=now_ms,
        ticket=ticket_of(event, event_id),
        client_id=event.client_id,
        client_host=event.client_host,
        fresh_id=new_id(event_id) if asks else "",
        fresh_short_id=short_id(event_id, new_id) if asks else "",
        rights=rights,
    )
    return coordinator.handle(group, event.request, context, config)


def ticket_of(event: Event, event_id: str) -> ReplyAddress:
    """Return the reply address of an event."""
    return ReplyAddress(event_id, event.correlation_id, event.version, event.reply_partition)


class InvalidEventResult(NamedTuple):
    """The results of an invalid event: an error response, a dead letter, or both."""

    is_answered: bool
    is_dead_letter: bool


def result_of_invalid(fault: InvalidEventError) -> InvalidEventResult:
    """Decide about an invalid event. It gets a response if it has a correlation id, and becomes a dead letter.

    An unsupported API version is no invalid input: if it gets a response, it is no dead letter.
    """
    is_answered = fault.correlation_id is not None
    is_fair = is_answered and fault.code is ErrorCode.UNSUPPORTED_VERSION
    return InvalidEventResult(is_answered, is_dead_letter=not is_fair)
