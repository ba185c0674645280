"""Authorization of requests: the checks of a broker before it looks at the group.

Handlers make the other checks: those of single topics, of topics in responses, and of IncrementalAlterConfigs,
which other errors precede.

Source: KafkaApis of Kafka 4.4. System events (TopicMetadata, EndTxn) are information that brokers exchange, so they need the
right of brokers in Kafka: CLUSTER_ACTION on the cluster. A Tick needs no right, since any event moves a group's clock.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from group_coordinator.core.acls.needs import (
    GROUP_DENIED,
    OF_THE_SYSTEM,
    ON_TRANSACTIONAL_IDS,
    TO_SEE_TOPICS,
)
from group_coordinator.core.acls.rights import Rights
from group_coordinator.core.acls.rule import CLUSTER_NAME, Operation, ResourceType
from group_coordinator.core.apis import api_of, error_response
from group_coordinator.core.model.classic_member import Ticket
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import (
    AlterConfigs,
    ConsumerGroupHeartbeat,
    DescribeConfigs,
    JoinGroup,
    OffsetFetch,
    Request,
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

_Right: TypeAlias = tuple[Operation, ResourceType, str]
_ERROR_OF_ALL_SINCE = 2
"""From this version of OffsetFetch on, a response has an error for the whole request."""


def is_admitted(request: Request, rights: Rights, version: int) -> bool:
    """Return True if the sender has the rights for the request as a whole. Missing rights become denials."""
    return _denied(request, rights, version) is None


def refusal(request: Request, rights: Rights, ticket: Ticket) -> list[Reply] | None:
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
    # Kafka checks in stages: the error of the first stage with a missing right is the error of the
    # request.
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
