"""The facade of the core: events and deadlines in, records and responses out. It also changes the group.

1. Before an event is handled, each deadline that is due by its time fires, at the deadline's own time.
2. The sender's rights on the group and the cluster are checked, as a broker does before it looks at the group. Handlers check single
   topics, topics in responses, and IncrementalAlterConfigs, which other errors precede.
3. The handler of the API decides, and `replay.py` applies its decision.

Source of the rights: KafkaApis of Kafka 4.4. System events (TopicMetadata, EndTxn) are information that brokers exchange, so they
need the right of brokers in Kafka: CLUSTER_ACTION on the cluster. A Tick needs no right, since any event moves a group's clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from group_coordinator.core import replay
from group_coordinator.core.acls import (
    CLUSTER_NAME,
    GROUP_DENIED,
    OF_THE_SYSTEM,
    ON_TRANSACTIONAL_IDS,
    TO_SEE_TOPICS,
    Operation,
    ResourceType,
    Rights,
)
from group_coordinator.core.apis import api_of, error_response
from group_coordinator.core.deadlines import Outages, fire, first_deadline
from group_coordinator.core.handlers import topic_metadata
from group_coordinator.core.model.changes import Decision, TopicsForgotten
from group_coordinator.core.model.classic_member import ReplyAddress
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import Record
from group_coordinator.core.model.requests import (
    AlterConfigs,
    ConsumerGroupHeartbeat,
    DescribeConfigs,
    JoinGroup,
    OffsetFetch,
    Request,
    RequestContext,
    SyncGroup,
    Tick,
    TopicMetadata,
    TxnOffsetCommit,
)
from group_coordinator.core.model.responses import (
    FetchedPartition,
    FetchedTopic,
    JoinGroupResponse,
    OffsetFetchResponse,
    Reply,
    Response,
)
from group_coordinator.core.model.timers import NEVER_MS, Timers
from group_coordinator.core.value import Value

_Right: TypeAlias = tuple[Operation, ResourceType, str]
_ERROR_OF_ALL_SINCE = 2
"""From this version of OffsetFetch on, a response has an error for the whole request."""


def is_admitted(request: Request, rights: Rights, version: int) -> bool:
    """Return True if the sender has the rights for the request as a whole. Missing rights become denials."""
    return _denied(request, rights, version) is None


def denied_response(request: Request, rights: Rights, ticket: ReplyAddress) -> list[Reply] | None:
    """Return the error response to a request that is denied as a whole; an empty list for an API without responses. None: allowed."""
    code = _denied(request, rights, ticket.version)
    if code is None:
        return None
    if isinstance(request, TopicMetadata):
        return []
    return [Reply(ticket, _answer(request, code, ticket.version))]


def _denied(request: Request, rights: Rights, version: int) -> ErrorCode | None:
    # All rights of a stage are checked, so that every missing one becomes a denial.
    for code, needed in _stages(request, version):
        missing = [right for right in needed if not rights.has(*right)]
        if missing:
            return code
    return None


def _stages(request: Request, version: int) -> Iterator[tuple[ErrorCode, list[_Right]]]:
    # The error of the first stage with a missing right is the error of the request, as in Kafka.
    match request:
        case Tick() | AlterConfigs():
            return
        case SyncGroup() if request.lacks_protocol(version):
            return  # SyncGroup without a protocol fails for that reason alone
        case TxnOffsetCommit():
            kind = ResourceType.TRANSACTIONAL_ID
            on_id = (ON_TRANSACTIONAL_IDS, kind, request.transactional_id)
            yield ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, [on_id]
        case _:
            pass
    rights = api_of(request).rights
    if rights is None:
        on_cluster = (OF_THE_SYSTEM, ResourceType.CLUSTER, CLUSTER_NAME)
        yield ErrorCode.CLUSTER_AUTHORIZATION_FAILED, [on_cluster]
        return
    on_group = (rights.on_group, ResourceType.GROUP, request.group_id)
    yield ErrorCode.GROUP_AUTHORIZATION_FAILED, [on_group]
    if isinstance(request, ConsumerGroupHeartbeat):
        names = dict.fromkeys(request.topic_names or ())
        on_topics = [(TO_SEE_TOPICS, ResourceType.TOPIC, name) for name in names]
        yield ErrorCode.TOPIC_AUTHORIZATION_FAILED, on_topics


def _answer(request: Request, code: ErrorCode, version: int) -> Response:
    # Kafka makes these responses before it loads the group: their fields differ from later errors.
    if isinstance(request, JoinGroup):
        return JoinGroupResponse(code, "")
    if isinstance(request, OffsetFetch) and version < _ERROR_OF_ALL_SINCE:
        topics = [
            FetchedTopic(t.name, None, tuple([FetchedPartition(p) for p in t.partitions]))
            for t in request.topics or ()
        ]
        return OffsetFetchResponse(code, request.group_id, tuple(topics))
    is_about_settings = isinstance(request, DescribeConfigs)
    return error_response(request, code, GROUP_DENIED if is_about_settings else None)


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
        denied = denied_response(request, context.rights, context.ticket)
        if denied is not None:
            return Step(context.now_ms, [], denied)
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
    # The topics are learned before the request. A classic group that kept them would ignore those of the next heartbeat.
    replay.apply(group, topic_metadata.of_heartbeat(group, request), context.now_ms, config)
    step = _handle(group, request, context, config)
    if group.consumer is None:
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
        response = error_response(request, error.code, error.message)
        return Step(now_ms, [], [Reply(context.ticket, response)])
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
