"""Topics and groups that a response shows: those that the broker lets the client see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.unit.gateway.scripted_broker import ORDERS_ID, Asked
from tests.unit.gateway.stage import Stage, on_stage
from tests.unit.gateway.test_rights import DENIED_GROUP, DENIED_TOPIC, PARTITION


@pytest.mark.parametrize(
    ("code", "shown"), [(DENIED_TOPIC, []), (0, [ORDERS_ID])], ids=["denied", "granted"]
)
@on_stage(has_authorizer=True)
async def test_unnamed_topics_are_hidden(stage: Stage, code: int, shown: list[str]) -> None:
    client = await stage.client()
    await nobody_may_see_orders(stage)
    stage.broker.answers["Metadata"] = lambda _asked: {
        "topics": [{"name": "orders", "errorCode": code}]
    }
    entries = [{"groupId": "billing", "topics": None}]
    client.ask("OffsetFetch", 10, {"groups": entries})
    question = await stage.job.asked()
    found = {"partitionIndex": 0, "committedOffset": 7, "committedLeaderEpoch": -1}
    # Of a topic that has gone meanwhile no broker says whether it may be seen.
    names = (ORDERS_ID, UNKNOWN_ID)
    topics = [{"topicId": name, "partitions": [found]} for name in names]
    question.answer.set_result({"groups": [{"groupId": "billing", "topics": topics}]})
    _, answer = await client.answer("OffsetFetch", 10)

    assert [t["topicId"] for t in answer["groups"][0]["topics"]] == shown


def knows_a_secret(stage: Stage) -> None:
    """A topic that was made a moment ago, and that the client may not see."""
    for api in ("Heartbeat", "FindCoordinator"):
        stage.broker.answers[api] = lambda asked: {
            "errorCode": 25,
            "coordinators": [{"key": key} for key in asked.body.get("coordinatorKeys", ())],
        }
    secret = {"name": "secret", "topicId": UNKNOWN_ID, "partitions": [{"partitionIndex": 0}]}
    looked_for = {"name": None, "topicId": UNKNOWN_ID}

    def metadata(asked: Asked) -> Mapping[str, Any]:
        if asked.body["topics"] == [looked_for]:
            return {**stage.broker.metadata(), "topics": [secret]}
        assert [topic["name"] for topic in asked.body["topics"]] == ["secret"]
        return {"topics": [{"name": "secret", "errorCode": DENIED_TOPIC}]}

    stage.broker.answers["Metadata"] = metadata


@on_stage(has_authorizer=True)
async def test_a_topic_by_an_unknown_id_is_not_committed_without_its_right(stage: Stage) -> None:
    knows_a_secret(stage)
    client = await stage.client()
    topics = [{"topicId": UNKNOWN_ID, "partitions": [PARTITION]}]
    answer = await client.asks("OffsetCommit", 10, {"groupId": "billing", "topics": topics})

    results = [{"partitionIndex": 0, "errorCode": DENIED_TOPIC}]
    assert answer["topics"] == [{"topicId": UNKNOWN_ID, "partitions": results}]
    assert stage.job.questions == []


@on_stage(has_authorizer=True)
async def test_a_topic_by_an_unknown_id_is_not_fetched_without_its_right(stage: Stage) -> None:
    knows_a_secret(stage)
    client = await stage.client()
    topics = [{"topicId": UNKNOWN_ID, "partitionIndexes": [0]}]
    client.ask("OffsetFetch", 10, {"groups": [{"groupId": "billing", "topics": topics}]})
    question = await stage.job.asked()
    question.answer.set_result({"groups": [{"groupId": "billing", "topics": []}]})
    _, answer = await client.answer("OffsetFetch", 10)

    assert question.body["groups"][0]["topics"] == []
    [topic] = answer["groups"][0]["topics"]
    assert topic["topicId"] == UNKNOWN_ID
    assert [p["errorCode"] for p in topic["partitions"]] == [DENIED_TOPIC]


UNKNOWN_ID = "AAAAAAAAAAAAAAAAAAAAEQ"


async def nobody_may_see_orders(stage: Stage) -> None:
    """Every group, and not the topic."""
    stage.broker.answers["FindCoordinator"] = lambda asked: {
        "coordinators": [{"key": key} for key in asked.body["coordinatorKeys"]]
    }
    stage.broker.answers["Metadata"] = lambda _asked: {
        "topics": [{"name": "orders", "errorCode": DENIED_TOPIC}]
    }


async def everything_but_orders(stage: Stage) -> None:
    """Every right on every group, and none on the topic."""
    await nobody_may_see_orders(stage)
    for api in ("Heartbeat", "OffsetDelete"):
        stage.broker.answers[api] = lambda _asked: {"errorCode": 0}
    stage.broker.answers["DescribeConfigs"] = lambda asked: {"results": asked.body["resources"]}
    stage.broker.answers["IncrementalAlterConfigs"] = lambda asked: {
        "responses": [r | {"errorCode": DENIED_GROUP} for r in asked.body["resources"]]
    }


def consumer_group(group_id: str, topic: str) -> dict[str, Any]:
    nothing: dict[str, Any] = {"topicPartitions": []}
    there = {"topicPartitions": [{"topicId": ORDERS_ID, "topicName": topic, "partitions": [0]}]}
    member = {"memberId": "m", "assignment": nothing, "targetAssignment": there}
    return {"groupId": group_id, "errorCode": 0, "members": [member]}


@on_stage(has_authorizer=True)
async def test_a_group_with_a_topic_that_one_may_not_see_is_not_described(stage: Stage) -> None:
    await nobody_may_see_orders(stage)
    stage.broker.answers["Metadata"] = lambda asked: {
        "topics": [
            one | {"errorCode": DENIED_TOPIC if one["name"] == "orders" else 0}
            for one in asked.body["topics"]
        ]
    }
    client = await stage.client()
    client.ask("ConsumerGroupDescribe", 1, {"groupIds": ["billing", "audit"]})
    groups = [consumer_group("billing", "orders"), consumer_group("audit", "seen")]
    (await stage.job.asked()).answer.set_result({"groups": groups})
    _, answer = await client.answer("ConsumerGroupDescribe", 1)

    assert [(g["groupId"], g["errorCode"], len(g["members"])) for g in answer["groups"]] == [
        ("billing", DENIED_TOPIC, 0),
        ("audit", 0, 1),
    ]


@on_stage(has_authorizer=True)
async def test_operations_on_a_group_are_those_that_the_broker_grants(stage: Stage) -> None:
    await everything_but_orders(stage)
    client = await stage.client()
    body = {"groups": ["billing", "gone"], "includeAuthorizedOperations": True}
    client.ask("DescribeGroups", 6, body)
    groups = [{"groupId": "billing", "errorCode": 0}, {"groupId": "gone", "errorCode": 69}]
    (await stage.job.asked()).answer.set_result({"groups": groups})
    _, answer = await client.answer("DescribeGroups", 6)

    read, delete, describe, describe_configs = 1 << 3, 1 << 6, 1 << 8, 1 << 10
    assert [g["authorizedOperations"] for g in answer["groups"]] == [
        read | delete | describe | describe_configs,
        -(2**31),
    ]


@on_stage(has_authorizer=True)
async def test_a_listing_shows_the_groups_that_one_may_see(stage: Stage) -> None:
    stage.broker.answers["DescribeCluster"] = lambda _asked: {}
    stage.broker.answers["FindCoordinator"] = lambda asked: {
        "coordinators": [
            {"key": key, "errorCode": DENIED_GROUP if key == "payroll" else 15}
            for key in asked.body["coordinatorKeys"]
        ]
    }
    client = await stage.client()
    client.ask("ListGroups", 5)
    groups = [{"groupId": "billing"}, {"groupId": "payroll"}]
    (await stage.job.asked()).answer.set_result({"groups": groups})
    _, answer = await client.answer("ListGroups", 5)

    assert [g["groupId"] for g in answer["groups"]] == ["billing"]
