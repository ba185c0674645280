"""The table of group APIs. Admission, dispatch, error responses, codecs and the gateway's routing are based on it.

A new API: classes in `model/requests.py` and `model/responses.py`, a handler, a row here, and a module in `codecs/apis`.
Source of the rights: KafkaApis, ConfigHelper and AclEntry of Kafka 4.4; of the error responses: getErrorResponse of its requests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from group_coordinator.core.acls import TO_CHANGE_OFFSETS, TO_SEE_TOPICS, Operation
from group_coordinator.core.handlers import (
    alter_configs,
    consumer_group_describe,
    consumer_group_heartbeat,
    delete_groups,
    describe_configs,
    describe_groups,
    end_txn,
    heartbeat,
    join_group,
    leave_group,
    offset_commit,
    offset_delete,
    offset_fetch,
    read_state,
    sync_group,
    tick,
    topic_metadata,
    txn_offset_commit,
)
from group_coordinator.core.model import requests, responses
from group_coordinator.core.model.changes import Decision
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.requests import Request, RequestContext
from group_coordinator.core.model.responses import Response, TopicResult
from group_coordinator.core.offsets.committing import same_result

_Request = TypeVar("_Request")
_Handled_contra = TypeVar("_Handled_contra", contravariant=True)
_Commit: TypeAlias = requests.OffsetCommit | requests.TxnOffsetCommit
ErrorResponse: TypeAlias = Callable[[_Request, ErrorCode, "str | None"], Response]
"""Makes the response to a request that fails as a whole. The message is dropped if the API has no field for it."""


class Handler(Protocol[_Handled_contra]):
    """A module of `handlers`: the code of an API."""

    __name__: str

    def decide(
        self,
        group: Group,
        request: _Handled_contra,
        context: RequestContext,
        config: CoordinatorConfig,
    ) -> Decision:
        """Return the changes and the response. Raises CoordinatorError for an error response."""


class RequiredRights(NamedTuple):
    """The operations that a sender needs on the group, and on each topic of its request."""

    on_group: Operation
    on_topics: Operation | None = None


class GroupApi(NamedTuple, Generic[_Request]):
    """An API with Kafka's name, or a system event with our own name and no `rights`."""

    request: type[_Request]
    name: str
    handler: Handler[_Request]
    error_response: ErrorResponse[_Request]
    rights: RequiredRights | None


def _code(response: Callable[[ErrorCode], Response]) -> ErrorResponse[Any]:
    return lambda _request, error, _message: response(error)


def _code_of_group(response: Callable[[ErrorCode, str], Response]) -> ErrorResponse[Any]:
    return lambda request, error, _message: response(error, request.group_id)


def _text_of_group(
    response: Callable[[ErrorCode, str | None, str], Response],
) -> ErrorResponse[Any]:
    return lambda request, error, message: response(error, message, request.group_id)


def _code_of_partitions(
    response: Callable[[tuple[TopicResult, ...]], Response],
) -> ErrorResponse[_Commit]:
    # These responses have no error for the whole request: every partition gets it.
    def on_each(commit: _Commit, error: ErrorCode, _message: str | None) -> Response:
        topics = [
            same_result(t.name, t.topic_id, (p.partition for p in t.partitions), error)
            for t in commit.topics
        ]
        return response(tuple(topics))

    return on_each


def _never(request: Request, _error: ErrorCode, _message: str | None) -> Response:
    # A system event without a response has no sender that could read an error.
    raise TypeError(f"{type(request).__name__} has no error response: no client sends it")


_READ = RequiredRights(Operation.READ)
_COMMIT = RequiredRights(Operation.READ, TO_CHANGE_OFFSETS)
_DESCRIBE = RequiredRights(Operation.DESCRIBE)
_DELETE = RequiredRights(Operation.DELETE)

_ROWS = (
    GroupApi(
        requests.OffsetCommit,
        "OffsetCommit",
        offset_commit,
        _code_of_partitions(responses.OffsetCommitResponse),
        _COMMIT,
    ),
    GroupApi(
        requests.TxnOffsetCommit,
        "TxnOffsetCommit",
        txn_offset_commit,
        _code_of_partitions(responses.TxnOffsetCommitResponse),
        _COMMIT,
    ),
    GroupApi(
        requests.OffsetFetch,
        "OffsetFetch",
        offset_fetch,
        _code_of_group(responses.OffsetFetchResponse),
        RequiredRights(Operation.DESCRIBE, TO_SEE_TOPICS),
    ),
    GroupApi(
        requests.OffsetDelete,
        "OffsetDelete",
        offset_delete,
        _code(responses.OffsetDeleteResponse),
        RequiredRights(Operation.DELETE, TO_CHANGE_OFFSETS),
    ),
    GroupApi(
        requests.JoinGroup,
        "JoinGroup",
        join_group,
        # Kafka repeats the member id in the error.
        lambda request, error, _: responses.JoinGroupResponse(error, request.member_id),
        _READ,
    ),
    GroupApi(
        requests.SyncGroup, "SyncGroup", sync_group, _code(responses.SyncGroupResponse), _READ
    ),
    GroupApi(requests.Heartbeat, "Heartbeat", heartbeat, _code(responses.HeartbeatResponse), _READ),
    GroupApi(
        requests.LeaveGroup, "LeaveGroup", leave_group, _code(responses.LeaveGroupResponse), _READ
    ),
    GroupApi(
        requests.DescribeGroup,
        "DescribeGroups",
        describe_groups,
        _text_of_group(responses.DescribeGroupResponse),
        _DESCRIBE,
    ),
    GroupApi(
        requests.DeleteGroup,
        "DeleteGroups",
        delete_groups,
        _code_of_group(responses.DeleteGroupResponse),
        _DELETE,
    ),
    GroupApi(
        requests.ConsumerGroupHeartbeat,
        "ConsumerGroupHeartbeat",
        consumer_group_heartbeat,
        lambda _, error, message: responses.ConsumerGroupHeartbeatResponse(error, message),
        _READ,
    ),
    GroupApi(
        requests.ConsumerGroupDescribe,
        "ConsumerGroupDescribe",
        consumer_group_describe,
        _text_of_group(responses.ConsumerGroupDescribeResponse),
        _DESCRIBE,
    ),
    GroupApi(
        requests.DescribeConfigs,
        "DescribeConfigs",
        describe_configs,
        _text_of_group(responses.DescribeConfigsResponse),
        RequiredRights(Operation.DESCRIBE_CONFIGS),
    ),
    GroupApi(
        requests.AlterConfigs,
        "IncrementalAlterConfigs",
        alter_configs,
        _text_of_group(responses.AlterConfigsResponse),
        RequiredRights(Operation.ALTER_CONFIGS),
    ),
    GroupApi(requests.EndTxn, "EndTxn", end_txn, _code(responses.EndTxnResponse), None),
    GroupApi(requests.ReadState, "ReadState", read_state, _code(responses.ReadStateResponse), None),
    GroupApi(requests.TopicMetadata, "TopicMetadata", topic_metadata, _never, None),
    GroupApi(requests.Tick, "Tick", tick, _never, None),
)

APIS: dict[str, GroupApi[Any]] = {api.name: api for api in _ROWS}
_BY_REQUEST: dict[type[Request], GroupApi[Any]] = {api.request: api for api in _ROWS}


def api_of(request: Request) -> GroupApi[Any]:
    return _BY_REQUEST[type(request)]


def error_response(request: Request, error: ErrorCode, message: str | None = None) -> Response:
    return api_of(request).error_response(request, error, message)
