from __future__ import annotations

from typing import Any

import pytest

from group_coordinator.codecs.events import InvalidEventError
from group_coordinator.core.model import requests
from group_coordinator.core.model.consumer_member import (
    ClassicMetadata,
    ConsumerMember,
    CurrentAssignment,
    ReconciliationState,
    SubscriptionMetadata,
)
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import Topic
from group_coordinator.core.model.responses import ConsumerGroupDescribeResponse, DescribedConsumer
from tests.unit.codecs.apis.messages import read, written_fields

ORDERS = Topic("orders", "AAAAAAAAAAAAAAAAAAAAAQ", 3)


def test_describe_is_of_one_group() -> None:
    asked = {"groupIds": ["g"], "includeAuthorizedOperations": True}

    assert read("ConsumerGroupDescribe", 0, asked) == requests.ConsumerGroupDescribe("g", True)
    assert read("ConsumerGroupDescribe", 1, {"groupIds": ["g"]}) == (
        requests.ConsumerGroupDescribe("g")
    )
    with pytest.raises(InvalidEventError, match="groupIds"):
        read("ConsumerGroupDescribe", 1, {"groupIds": ["g", "h"]})


def described(classic: ClassicMetadata | None = None) -> ConsumerGroupDescribeResponse:
    metadata = SubscriptionMetadata(
        group_instance_id="i",
        rack_id="r",
        client_id="client",
        client_host="/h",
        topic_names=("orders",),
        topic_regex=None,
        rebalance_timeout_ms=60_000,
        server_assignor=None,
        classic=classic,
    )
    has = CurrentAssignment(3, 2, ReconciliationState.STABLE, {ORDERS.topic_id: {0: 3}}, {})
    member = ConsumerMember("m", metadata, has)
    return ConsumerGroupDescribeResponse(
        error=ErrorCode.NONE,
        error_message=None,
        group_id="g",
        state="Stable",
        epoch=4,
        assignment_epoch=3,
        assignor="uniform",
        members=(DescribedConsumer(member, ((ORDERS, (0,)),), ((ORDERS, (0, 1)),)),),
    )


def test_a_description() -> None:
    def partitions(*numbers: int) -> dict[str, Any]:
        of_orders = {
            "topicId": ORDERS.topic_id,
            "topicName": "orders",
            "partitions": list(numbers),
        }
        return {"topicPartitions": [of_orders]}

    assert written_fields(described(), 1) == {
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

    assert written_fields(classic, 1)["groups"][0]["members"][0]["memberType"] == 0
    assert "memberType" not in written_fields(classic, 0)["groups"][0]["members"][0]


def test_operations_that_were_asked_for() -> None:
    answer = described().replace(operations=3_400)

    assert written_fields(answer, 0)["groups"][0]["authorizedOperations"] == 3_400
