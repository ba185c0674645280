"""How each API says no: one place turns an error into the answer that Kafka's getErrorResponse would give."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import (
    AlterConfigs,
    ConsumerGroupDescribe,
    ConsumerGroupHeartbeat,
    DeleteGroup,
    DescribeConfigs,
    DescribeGroup,
    EndTxn,
    Heartbeat,
    JoinGroup,
    LeaveGroup,
    OffsetCommit,
    OffsetDelete,
    OffsetFetch,
    Request,
    SyncGroup,
    Tick,
    TopicCommit,
    TopicMetadata,
    TxnOffsetCommit,
)
from group_coordinator.core.model.responses import (
    AlterConfigsResponse,
    ConsumerGroupDescribeResponse,
    ConsumerGroupHeartbeatResponse,
    DeleteGroupResponse,
    DescribeConfigsResponse,
    DescribeGroupResponse,
    EndTxnResponse,
    HeartbeatResponse,
    JoinGroupResponse,
    LeaveGroupResponse,
    OffsetCommitResponse,
    OffsetDeleteResponse,
    OffsetFetchResponse,
    Response,
    SyncGroupResponse,
    TopicResult,
    TxnOffsetCommitResponse,
)
from group_coordinator.core.offsets.results import same_result


def rejection(  # noqa: C901, PLR0911, PLR0912 - one line an API
    request: Request, error: ErrorCode, message: str | None = None
) -> Response:
    """The answer to a request that was refused as a whole; some APIs have a place for a message."""
    match request:
        case JoinGroup():
            return JoinGroupResponse(error, request.member_id)
        case SyncGroup():
            return SyncGroupResponse(error)
        case Heartbeat():
            return HeartbeatResponse(error)
        case LeaveGroup():
            return LeaveGroupResponse(error)
        case OffsetCommit():
            return OffsetCommitResponse(_of_each_partition(request.topics, error))
        case TxnOffsetCommit():
            return TxnOffsetCommitResponse(_of_each_partition(request.topics, error))
        case EndTxn():
            return EndTxnResponse(error)
        case DescribeConfigs():
            return DescribeConfigsResponse(error, message or "", request.group_id)
        case AlterConfigs():
            return AlterConfigsResponse(error, message, request.group_id)
        case OffsetFetch():
            return OffsetFetchResponse(error, request.group_id)
        case OffsetDelete():
            return OffsetDeleteResponse(error)
        case DeleteGroup():
            return DeleteGroupResponse(error, request.group_id)
        case DescribeGroup():
            return DescribeGroupResponse(error, None, request.group_id, "")
        case ConsumerGroupHeartbeat():
            return ConsumerGroupHeartbeatResponse(error, message)
        case ConsumerGroupDescribe():
            return ConsumerGroupDescribeResponse(error, message, request.group_id)
        case TopicMetadata() | Tick():
            raise TypeError(f"{type(request).__name__} is never refused: it asks for nothing")
        case _:
            assert_never(request)


def _of_each_partition(topics: Iterable[TopicCommit], error: ErrorCode) -> tuple[TopicResult, ...]:
    return tuple(
        same_result(t.name, t.topic_id, (p.partition for p in t.partitions), error) for t in topics
    )
