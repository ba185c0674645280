"""An event, taken the same way by the job, `replay-events` and tests; new member ids follow from the event, so a repeated batch gives the same.

The hosts differ in where events and time come from, and in what they do with a Step. All of them let the deadlines
that are due by an event's time fire before it, and those that it makes due at once after it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple
from uuid import NAMESPACE_OID, UUID, uuid5

from group_coordinator.binary.uuids import uuid_text
from group_coordinator.codecs.events import Event, InvalidEventError
from group_coordinator.core import coordinator
from group_coordinator.core.acls.authorizer import Authorizer, Caller, address_of
from group_coordinator.core.acls.rights import Rights
from group_coordinator.core.acls.rule import ANONYMOUS, THE_JOB
from group_coordinator.core.coordinator import Step
from group_coordinator.core.model.classic_member import Ticket
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.requests import (
    ConsumerGroupHeartbeat,
    EndTxn,
    JoinGroup,
    Request,
    RequestContext,
    TopicMetadata,
)


def fresh_id(event_id: str) -> str:
    """The uuid text (version 5) at the end of a member id that this event makes."""
    return str(uuid5(NAMESPACE_OID, event_id))


def short_id(event_id: str, new_id: Callable[[str], str] = fresh_id) -> str:
    """The 22 characters of a member id of a consumer group, as Kafka's Uuid prints them.

    One with a dash is drawn again, as in Uuid.randomUuid since Kafka 4.4; the second draw is of "EVENT ID-2".
    """
    text, draws = uuid_text(UUID(new_id(event_id)).bytes), 1
    while "-" in text:
        draws += 1
        text = uuid_text(UUID(new_id(f"{event_id}-{draws}")).bytes)
    return text


_JOINS = (JoinGroup, ConsumerGroupHeartbeat)
"""The requests whose senders may need a member id."""
_TOLD_BY_THE_JOB = (TopicMetadata, EndTxn)


def event_id_at(topic: str, partition: int, offset: int) -> str:
    """The id of the event at these coordinates; its responses carry it, so that readers can drop repeats."""
    return f"{topic}-{partition}-{offset}"


def is_of_the_job(event: Event) -> bool:
    """Whether the job tells a group what brokers know from one another. Nothing else is done in its name."""
    return event.principal == THE_JOB and isinstance(event.request, _TOLD_BY_THE_JOB)


def rights_of(event: Event, acls: Authorizer) -> Rights | None:
    """What the sender of an event may do: whom the event names, at the address that it names. None: the job needs none."""
    if is_of_the_job(event):
        return None
    return Rights(acls, Caller(event.principal or ANONYMOUS, address_of(event.client_host)))


def take(  # noqa: PLR0913 - all that an event depends on
    group: Group,
    event: Event,
    event_id: str,
    now_ms: int,
    config: CoordinatorConfig,
    new_id: Callable[[str], str] = fresh_id,
    *,
    rights: Rights | None = None,
) -> Step:
    """Apply an event to its group; deadlines due by `now_ms` must have fired already.

    `new_id` makes the uuid text of a new member id from the event's id. `rights` are the sender's; None: nobody needs any.
    What they lack is in them afterwards.
    """
    asks = _asks_for_id(event.request)
    context = RequestContext(
        now_ms,
        ticket_of(event, event_id),
        event.client_id,
        event.client_host,
        new_id(event_id) if asks else "",
        short_id(event_id, new_id) if asks else "",
        rights,
    )
    return coordinator.handle(group, event.request, context, config)


def ticket_of(event: Event, event_id: str) -> Ticket:
    """What a reply to the event needs to know of it."""
    return Ticket(event_id, event.correlation_id, event.version, event.reply_partition)


def _asks_for_id(request: Request) -> bool:
    """Whether the member has no id yet; to make one costs as much as a heartbeat."""
    return isinstance(request, _JOINS) and not request.member_id


class Refusal(NamedTuple):
    """What a host does with an event that it cannot take."""

    is_answered: bool
    is_dead_letter: bool


def refusal_of(fault: InvalidEventError) -> Refusal:
    """Bad input is answered if it has a correlation id, and kept as a dead letter.

    A version that we do not speak is a fair question, not bad input: if it is answered, that is enough.
    """
    is_answered = fault.correlation_id is not None
    is_fair = is_answered and fault.code is ErrorCode.UNSUPPORTED_VERSION
    return Refusal(is_answered, is_dead_letter=not is_fair)
