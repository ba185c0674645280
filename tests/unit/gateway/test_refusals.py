from __future__ import annotations

from collections.abc import Iterator

import pytest

from group_coordinator.clients.channel import Body
from group_coordinator.codecs import wire
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.api_versions import APIS, Route
from group_coordinator.gateway.groups.error_responses import error_response

CODE = ErrorCode.COORDINATOR_NOT_AVAILABLE
COMMITTED = [
    {"name": "orders", "topicId": "AAAAAAAAAAAAAAAAAAAAAg", "partitions": [{"partitionIndex": 4}]}
]
RESOURCE = {"resourceType": 32, "resourceName": "billing"}
REQUESTS: dict[str, Body] = {
    "OffsetCommit": {"groupId": "billing", "topics": COMMITTED},
    "TxnOffsetCommit": {"groupId": "billing", "topics": COMMITTED},
    "OffsetFetch": {
        "groupId": "billing",
        "topics": [{"name": "orders", "partitionIndexes": [4]}],
        "groups": [{"groupId": "billing"}],
    },
    "OffsetDelete": {"groupId": "billing", "topics": COMMITTED},
    "DescribeGroups": {"groups": ["billing"]},
    "ConsumerGroupDescribe": {"groupIds": ["billing"]},
    "DeleteGroups": {"groupsNames": ["billing"]},
    "DescribeConfigs": {"resources": [RESOURCE]},
    "IncrementalAlterConfigs": {"resources": [RESOURCE]},
}


def every_version() -> Iterator[tuple[str, int]]:
    for api in APIS.values():
        if api.route is Route.GROUPS and api.name != "ListGroups":
            yield from ((api.name, version) for version in api.versions)
    yield from (("DescribeConfigs", version) for version in range(1, 5))
    yield from (("IncrementalAlterConfigs", version) for version in range(2))


def told(api: str, version: int, code: ErrorCode = CODE) -> Body:
    """What a client reads of the refusal of a request of this version."""
    sent = wire.encode(f"{api}Request", version, REQUESTS.get(api, {"groupId": "billing"}))
    body = wire.decode(f"{api}Request", version, sent)
    answer = error_response(api, version, body, code, "why")
    return wire.decode(f"{api}Response", version, wire.encode(f"{api}Response", version, answer))


@pytest.mark.parametrize(("api", "version"), every_version())
def test_every_api_says_the_error_once_in_every_version(api: str, version: int) -> None:
    assert list(codes_in(told(api, version))) == [15]


def codes_in(value: object) -> Iterator[int]:
    """The errors in an answer, wherever they stand; of several places in which one could, those without one do not count."""
    match value:
        case dict():
            if value.get("errorCode"):
                yield value["errorCode"]
            for each in value.values():
                yield from codes_in(each)
        case list():
            for each in value:
                yield from codes_in(each)


def test_a_join_that_is_refused_names_nobody() -> None:
    assert told("JoinGroup", 9) == {
        "throttleTimeMs": 0,
        "errorCode": 15,
        "generationId": -1,
        "protocolType": None,
        "protocolName": None,
        "leader": "",
        "skipAssignment": False,
        "memberId": "",
        "members": [],
    }
    assert told("JoinGroup", 6)["protocolName"] == ""


def test_commits_have_errors_at_partitions() -> None:
    partitions = [{"partitionIndex": 4, "errorCode": 15}]

    assert told("OffsetCommit", 9)["topics"] == [{"name": "orders", "partitions": partitions}]
    assert told("OffsetCommit", 10)["topics"] == [
        {"topicId": "AAAAAAAAAAAAAAAAAAAAAg", "partitions": partitions}
    ]
    assert told("TxnOffsetCommit", 0)["topics"] == [{"name": "orders", "partitions": partitions}]


def test_fetches_have_errors_at_partitions_then_at_the_top_then_at_groups() -> None:
    nothing = {"partitionIndex": 4, "committedOffset": -1, "metadata": "", "errorCode": 15}

    assert told("OffsetFetch", 1) == {"topics": [{"name": "orders", "partitions": [nothing]}]}
    assert told("OffsetFetch", 2) == {"topics": [], "errorCode": 15}
    assert told("OffsetFetch", 7) == {"throttleTimeMs": 0, "topics": [], "errorCode": 15}
    assert told("OffsetFetch", 8) == {
        "throttleTimeMs": 0,
        "groups": [{"groupId": "billing", "topics": [], "errorCode": 15}],
    }


def test_a_message_stands_where_the_version_has_a_field_for_it() -> None:
    assert told("ConsumerGroupHeartbeat", 1)["errorMessage"] == "why"
    assert told("DescribeGroups", 6)["groups"][0]["errorMessage"] == "why"
    assert "errorMessage" not in told("DescribeGroups", 5)["groups"][0]
    assert told("DeleteGroups", 3)["results"][0]["errorMessage"] == "why"
    assert told("DescribeConfigs", 4)["results"] == [
        {"errorCode": 15, "errorMessage": "why", "configs": [], **RESOURCE}
    ]
    assert told("IncrementalAlterConfigs", 0)["responses"] == [
        {"errorCode": 15, "errorMessage": "why", **RESOURCE}
    ]
