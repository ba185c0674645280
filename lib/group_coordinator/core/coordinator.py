"""The facade of the core: events and deadlines in, records and responses out. It also changes the group.

Events and deadlines are ordered by time: before an event is handled, each deadline that is due by the event's time fires, at its
own time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from group_coordinator.core import replay
from group_coordinator.core.acls.rights import Rights
from group_coordinator.core.admission import refusal
from group_coordinator.core.apis import api_of, error_response
from group_coordinator.core.deadlines.firing import fire, first_deadline
from group_coordinator.core.deadlines.outages import Outages
from group_coordinator.core.handlers import topic_metadata
from group_coordinator.core.model.changes import Decision, TopicsForgotten
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.errors import CoordinatorError
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import Record
from group_coordinator.core.model.requests import (
    ConsumerGroupHeartbeat,
    Request,
    RequestContext,
)
from group_coordinator.core.model.responses import Reply
from group_coordinator.core.model.timers import NEVER_MS, Timers
from group_coordinator.core.value import Value


class Step(Value, frozen=True):
    at_ms: int
    records: Sequence[Record]
    replies: list[Reply]


def handle(
    group: Group, request: Request, context: RequestContext, config: CoordinatorConfig
) -> Step:
    """Handle a request at `context.now_ms`. Deadlines due by then must have fired before.

    A request that is denied as a whole leaves the group unchanged.
    """
    if context.rights is not None:
        refused = refusal(request, context.rights, context.ticket)
        if refused is not None:
            return Step(context.now_ms, [], refused)
    # Only the gateway sends these topics: a broker would know them itself.
    if isinstance(request, ConsumerGroupHeartbeat) and request.known_topics:
        return _handle_with_topics(group, request, context, config)
    return _handle(group, request, context, config)


def _handle_with_topics(
    group: Group,
    request: ConsumerGroupHeartbeat,
    context: RequestContext,
    config: CoordinatorConfig,
) -> Step:
    if group.topics is not None:
        return _handle(group, request, context, config)
    # The topics are learned before the request, and forgotten if it creates no group.
    replay.apply(group, topic_metadata.of_heartbeat(group, request), context.now_ms, config)
    step = _handle(group, request, context, config)
    if group.membership is None:
        forgotten = Decision([], [], (TopicsForgotten(),))
        replay.apply(group, forgotten, context.now_ms, config)
    return step


def _handle(
    group: Group, request: Request, context: RequestContext, config: CoordinatorConfig
) -> Step:
    now_ms = context.now_ms
    group.clock_ms = now_ms
    try:
        # The group is not changed before the decision is complete: an error leaves it as it was.
        decision = decide(group, request, context, config)
    except CoordinatorError as error:
        answer = error_response(request, error.code, error.message)
        return Step(now_ms, [], [Reply(context.ticket, answer)])
    replay.apply(group, decision, now_ms, config)
    return Step(now_ms, decision.records, decision.replies)


def decide(
    group: Group, request: Request, context: RequestContext, config: CoordinatorConfig
) -> Decision:
    return api_of(request).handler.decide(group, request, context, config)


def advance(
    group: Group,
    to_ms: int,
    config: CoordinatorConfig,
    outages: Outages = (),
    rights: Rights | None = None,
) -> Iterator[Step]:
    """Fire every deadline due by `to_ms`, in order, each at its own time. Outages postpone timers.

    `rights` are the rights of the sender of the request right before: a regular expression that it subscribes to is matched at
    once.
    """
    # All sweeps up to the clock are done.
    swept_ms = group.clock_ms
    while group.wake_ms <= to_ms:
        # A fired deadline may cancel or set others, so only the first is computed.
        deadline = first_deadline(group, swept_ms, config, outages)
        group.wake_ms = deadline.due_ms if deadline else NEVER_MS
        if deadline is None or deadline.due_ms > to_ms:
            return
        swept_ms = deadline.swept_ms
        # The clock never goes back, even for a deadline that was set in the past.
        now_ms = group.clock_ms = max(deadline.due_ms, group.clock_ms)
        decision = fire(group, deadline, now_ms, config, rights)
        replay.apply(group, decision, now_ms, config)
        # The next deadline is unknown after a change: 0 makes the loop look again.
        group.wake_ms = 0
        yield Step(now_ms, decision.records, decision.replies)


def next_deadline(group: Group, config: CoordinatorConfig, outages: Outages = ()) -> int | None:
    """Return the time of the group's next deadline; None if there is none."""
    deadline = first_deadline(group, group.clock_ms, config, outages)
    group.wake_ms = deadline.due_ms if deadline else NEVER_MS
    return deadline.due_ms if deadline else None


def drop_deadlines(group: Group, to_ms: int) -> None:
    """Drop every deadline due by `to_ms` without its effect, after an internal error in one of them."""
    group.clock_ms = max(group.clock_ms, to_ms)
    group.wake_ms = 0
    if group.membership is not None:
        timers = group.membership.timers.by_text
        left = {text: timer for text, timer in timers.items() if timer.due_ms > to_ms}
        group.membership.timers = Timers.of_texts(left)
