from __future__ import annotations

from typing import get_args

import pytest

from group_coordinator.core.apis import APIS, error_response
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import (
    DeleteGroup,
    DescribeGroup,
    Heartbeat,
    OffsetDelete,
    OffsetFetch,
    Request,
    Tick,
    TopicMetadata,
)
from group_coordinator.core.model.responses import (
    DeleteGroupResponse,
    DescribeGroupResponse,
    HeartbeatResponse,
    JoinGroupResponse,
    LeaveGroupResponse,
    OffsetCommitResponse,
    OffsetDeleteResponse,
    OffsetFetchResponse,
    PartitionResult,
    Response,
    SyncGroupResponse,
    TopicResult,
)
from tests.unit.core import requests
from tests.unit.core.requests import at_offset

NO = ErrorCode.COORDINATOR_NOT_AVAILABLE


def test_every_request_has_one_row() -> None:
    assert sorted(api.request.__name__ for api in APIS.values()) == sorted(
        request.__name__ for request in get_args(Request)
    )


@pytest.mark.parametrize(
    ("request_", "response"),
    [
        (requests.join("m"), JoinGroupResponse(NO, "m")),
        (requests.sync("m", 1), SyncGroupResponse(NO)),
        (Heartbeat("g", 1, "m", None), HeartbeatResponse(NO)),
        (requests.leave(("m", None)), LeaveGroupResponse(NO)),
        (OffsetFetch("g", None, None, None, require_stable=False), OffsetFetchResponse(NO, "g")),
        (OffsetDelete("g", ()), OffsetDeleteResponse(NO)),
        (DeleteGroup("g"), DeleteGroupResponse(NO, "g")),
        (
            DescribeGroup("g"),
            DescribeGroupResponse(error=NO, error_message=None, group_id="g", state=""),
        ),
    ],
)
def test_every_api_has_its_own_way_to_say_no(request_: Request, response: Response) -> None:
    assert error_response(request_, NO) == response


def test_a_refused_commit_is_told_for_every_partition() -> None:
    request = requests.commit(at_offset(1, 3), at_offset(2, 5))

    assert error_response(request, NO) == OffsetCommitResponse(
        (TopicResult("orders", None, (PartitionResult(3, NO), PartitionResult(5, NO))),)
    )


@pytest.mark.parametrize("request_", [Tick("g"), TopicMetadata("g", (), ())])
def test_events_of_the_system_are_never_refused(request_: Request) -> None:
    with pytest.raises(TypeError, match=f"^{type(request_).__name__} has no error response"):
        error_response(request_, NO)
