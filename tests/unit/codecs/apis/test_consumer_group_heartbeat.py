from __future__ import annotations

import pytest

from group_coordinator.codecs.events import InvalidEventError
from group_coordinator.core.model import requests
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import Topic
from group_coordinator.core.model.responses import ConsumerGroupHeartbeatResponse
from tests.unit.codecs.apis.messages import read, written_fields

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


def test_a_full_heartbeat() -> None:
    assert read("ConsumerGroupHeartbeat", 1, FULL) == requests.ConsumerGroupHeartbeat(
        group_id="g",
        member_id="m",
        member_epoch=3,
        group_instance_id="i",
        rack_id="r",
        rebalance_timeout_ms=60_000,
        topic_names=("orders", "bills"),
        topic_regex="o.*",
        server_assignor="range",
        owned=(requests.TopicPartitions(None, ORDERS.topic_id, (2, 0)),),
    )


def test_topics_that_the_cluster_has_may_come_along() -> None:
    known = {
        "name": "orders",
        "topicId": ORDERS.topic_id,
        "numPartitions": 3,
        "racks": [["b", "a"]],
    }

    request = read("ConsumerGroupHeartbeat", 1, {"groupId": "g", "knownTopics": [known]})

    assert isinstance(request, requests.ConsumerGroupHeartbeat)
    assert request.known_topics == (ORDERS.replace(racks=(("a", "b"),)),)
    with pytest.raises(InvalidEventError, match="appears twice"):
        read("ConsumerGroupHeartbeat", 1, {"groupId": "g", "knownTopics": [known, known]})


@pytest.mark.parametrize("version", [0, 1])
def test_what_is_left_out_is_as_before(version: int) -> None:
    assert read("ConsumerGroupHeartbeat", version, {"groupId": "g"}) == (
        requests.ConsumerGroupHeartbeat(
            group_id="g",
            member_id="",
            member_epoch=0,
            group_instance_id=None,
            rack_id=None,
            rebalance_timeout_ms=None,
            topic_names=None,
            topic_regex=None,
            server_assignor=None,
            owned=None,
        )
    )


def test_empty_lists_are_not_left_out() -> None:
    request = read("ConsumerGroupHeartbeat", 1, {"subscribedTopicNames": [], "topicPartitions": []})

    assert isinstance(request, requests.ConsumerGroupHeartbeat)
    assert (request.topic_names, request.owned) == ((), ())


def test_the_first_version_knows_no_pattern() -> None:
    read("ConsumerGroupHeartbeat", 0, FULL | {"subscribedTopicRegex": None})

    with pytest.raises(
        InvalidEventError, match=r"subscribedTopicRegex = .*: version 0 has no such"
    ):
        read("ConsumerGroupHeartbeat", 0, FULL)


@pytest.mark.parametrize("version", [0, 1])
def test_an_answer_with_an_assignment(version: int) -> None:
    answer = ConsumerGroupHeartbeatResponse(
        ErrorCode.NONE, None, "m", 3, 5_000, {ORDERS.topic_id: (0, 2)}
    )

    assert written_fields(answer, version) == {
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

    assert written_fields(answer, 1) == {
        "throttleTimeMs": 0,
        "errorCode": 110,
        "errorMessage": "no",
        "memberId": None,
        "memberEpoch": 0,
        "heartbeatIntervalMs": 0,
        "assignment": None,
    }
