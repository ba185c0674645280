"""ConsumerGroupHeartbeat and ConsumerGroupDescribe in JSON: every field, every version (KIP-848)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from group_coordinator.codecs import events, responses
from group_coordinator.codecs.events import InvalidEventError
from group_coordinator.core.model import requests
from group_coordinator.core.model.consumer_member import (
    ClassicMetadata,
    ConsumerMember,
    CurrentAssignment,
    MemberState,
    SubscriptionMetadata,
)
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.responses import (
    ConsumerGroupDescribeResponse,
    ConsumerGroupHeartbeatResponse,
    DescribedConsumer,
    Reply,
    Response,
)
from group_coordinator.core.model.ticket import Ticket
from group_coordinator.core.model.topic import Topic

ORDERS = Topic("orders", "AAAAAAAAAAAAAAAAAAAAAQ", 3)
FULL = {
    "groupId": "g",
    "memberId": "m",
    "memberEpoch": 3,
    "instanceId": "i",
    "rackId": "r",
    "rebalanceTimeoutMs": 60_000,
    "subscribedTopicNames": ["orders", "bills"],
    "subscribedTopicRegex": "o.*",
    "serverAssignor": "range",
    "topicPartitions": [{"topicId": ORDERS.topic_id, "partitions": [2, 0]}],
}


def read(api: str, version: int, body: dict[str, Any]) -> requests.Request:
    event = {"api": api, "version": version, "body": body}
    return events.decode(json.dumps(event).encode()).request


def body_of(response: Response, version: int) -> Any:
    reply = Reply(Ticket("e", "c", version), response)
    return json.loads(json.dumps(responses.to_json("g", reply, 0)["body"]))


def test_a_full_heartbeat() -> None:
    assert read("ConsumerGroupHeartbeat", 1, FULL) == requests.ConsumerGroupHeartbeat(
        "g",
        "m",
        3,
        "i",
        "r",
        60_000,
        ("orders", "bills"),
        "o.*",
        "range",
        (requests.TopicPartitions(None, ORDERS.topic_id, (2, 0)),),
    )


@pytest.mark.parametrize("version", [0, 1])
def test_what_is_left_out_is_as_before(version: int) -> None:
    assert read("ConsumerGroupHeartbeat", version, {"groupId": "g"}) == (
        requests.ConsumerGroupHeartbeat("g", "", 0, None, None, None, None, None, None, None)
    )


def test_empty_lists_are_not_left_out() -> None:
    request = read("ConsumerGroupHeartbeat", 1, {"subscribedTopicNames": [], "topicPartitions": []})

    assert isinstance(request, requests.ConsumerGroupHeartbeat)
    assert (request.topic_names, request.owned) == ((), ())


def test_the_first_version_knows_no_pattern() -> None:
    read("ConsumerGroupHeartbeat", 0, FULL | {"subscribedTopicRegex": None})

    with pytest.raises(InvalidEventError, match="subscribedTopicRegex: version 0 has no such"):
        read("ConsumerGroupHeartbeat", 0, FULL)


def test_describe_is_of_one_group() -> None:
    asked = {"groupIds": ["g"], "includeAuthorizedOperations": True}

    assert read("ConsumerGroupDescribe", 0, asked) == requests.ConsumerGroupDescribe("g", True)
    assert read("ConsumerGroupDescribe", 1, {"groupIds": ["g"]}) == (
        requests.ConsumerGroupDescribe("g")
    )
    with pytest.raises(InvalidEventError, match="groupIds"):
        read("ConsumerGroupDescribe", 1, {"groupIds": ["g", "h"]})


@pytest.mark.parametrize("version", [0, 1])
def test_an_answer_with_an_assignment(version: int) -> None:
    answer = ConsumerGroupHeartbeatResponse(
        ErrorCode.NONE, None, "m", 3, 5_000, {ORDERS.topic_id: (0, 2)}
    )

    assert body_of(answer, version) == {
        "throttleTimeMs": 0,
        "errorCode": 0,
        "errorMessage": None,
        "memberId": "m",
        "memberEpoch": 3,
        "heartbeatIntervalMs": 5_000,
        "assignment": {"topicPartitions": [{"topicId": ORDERS.topic_id, "partitions": [0, 2]}]},
    }


def test_a_refusal() -> None:
    answer = ConsumerGroupHeartbeatResponse(ErrorCode.FENCED_MEMBER_EPOCH, "no")

    assert body_of(answer, 1) == {
        "throttleTimeMs": 0,
        "errorCode": 110,
        "errorMessage": "no",
        "memberId": None,
        "memberEpoch": 0,
        "heartbeatIntervalMs": 0,
        "assignment": None,
    }


def described(classic: ClassicMetadata | None = None) -> ConsumerGroupDescribeResponse:
    metadata = SubscriptionMetadata(
        "i", "r", "client", "/h", ("orders",), None, 60_000, None, classic
    )
    has = CurrentAssignment(3, 2, MemberState.STABLE, {ORDERS.topic_id: {0: 3}}, {})
    member = ConsumerMember("m", metadata, has)
    return ConsumerGroupDescribeResponse(
        ErrorCode.NONE,
        None,
        "g",
        "Stable",
        4,
        3,
        "uniform",
        (DescribedConsumer(member, ((ORDERS, (0,)),), ((ORDERS, (0, 1)),)),),
    )


def test_a_description() -> None:
    def partitions(*numbers: int) -> dict[str, Any]:
        of_orders = {
            "topicId": ORDERS.topic_id,
            "topicName": "orders",
            "partitions": list(numbers),
        }
        return {"topicPartitions": [of_orders]}

    assert body_of(described(), 1) == {
        "throttleTimeMs": 0,
        "groups": [
            {
                "errorCode": 0,
                "errorMessage": None,
                "groupId": "g",
                "groupState": "Stable",
                "groupEpoch": 4,
                "assignmentEpoch": 3,
                "assignorName": "uniform",
                "members": [
                    {
                        "memberId": "m",
                        "instanceId": "i",
                        "rackId": "r",
                        "memberEpoch": 3,
                        "clientId": "client",
                        "clientHost": "/h",
                        "subscribedTopicNames": ["orders"],
                        "subscribedTopicRegex": "",
                        "assignment": partitions(0),
                        "targetAssignment": partitions(0, 1),
                        "memberType": 1,
                    }
                ],
                "authorizedOperations": -(2**31),
            }
        ],
    }


def test_the_type_of_a_member_is_told_since_version_1() -> None:
    classic = described(ClassicMetadata(10_000, ()))

    assert body_of(classic, 1)["groups"][0]["members"][0]["memberType"] == 0
    assert "memberType" not in body_of(classic, 0)["groups"][0]["members"][0]


def test_operations_that_were_asked_for() -> None:
    answer = described().replace(operations=3_400)

    assert body_of(answer, 0)["groups"][0]["authorizedOperations"] == 3_400
