"""Groups say which topics they need, and an upgrade waits for them."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import replace

from group_coordinator.codecs import snapshots
from group_coordinator.core.embedded_protocol import encode_assignment
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.group import Group
from group_coordinator.runtime.update_group import GroupUpdate
from tests.unit.runtime.group_updates import (
    COMMIT,
    CONTEXT,
    JOIN,
    Json,
    call,
    group_of,
    lines,
    row,
    tags,
)

ASKING = replace(CONTEXT, asks_for_topics=True)
ORDERS = {"name": "orders", "topicId": "AAAAAAAAAAAAAAAAAAAAAQ", "numPartitions": 1}


def heartbeat(epoch: int, **body: object) -> Json:
    joining = {"rebalanceTimeoutMs": 60_000, "topicPartitions": []} if epoch == 0 else {}
    return {
        "api": "ConsumerGroupHeartbeat",
        "version": 1,
        "correlationId": "c",
        "body": {"groupId": "g", "memberId": "m", "memberEpoch": epoch, **joining, **body},
    }


def topics(*known: Json) -> Json:
    body = {"groupId": "g", "topics": known, "complete": False}
    return {"api": "TopicMetadata", "version": 0, "body": body}


def needs(update: GroupUpdate) -> list[tuple[list[str], list[str]]]:
    return [(line["names"], line["regexes"]) for tag, line in lines(update) if tag == "T"]


def take(event: Json, at_ms: int, before: GroupUpdate | None = None) -> GroupUpdate:
    state = None if before is None else before.state
    return call(row(event, at_ms), at_ms=at_ms, state=state, context=ASKING)


def test_a_consumer_group_asks_until_it_is_told() -> None:
    joined = take(heartbeat(0, subscribedTopicNames=["orders"]), 1_000)
    assert needs(joined) == [(["orders"], [])]
    again = take(heartbeat(2), 2_000, joined)
    assert needs(again) == [(["orders"], [])]
    told = take(topics(ORDERS), 3_000, again)
    assert needs(told) == [(["orders"], [])]
    assert needs(take(heartbeat(2), 4_000, told)) == []


def test_it_asks_also_when_its_first_heartbeat_brought_the_topics() -> None:
    joined = take(heartbeat(0, subscribedTopicNames=["orders"], knownTopics=[ORDERS]), 1_000)
    assert needs(joined) == [(["orders"], [])]
    assert needs(take(heartbeat(2), 2_000, joined)) == []


def test_it_asks_also_when_a_later_heartbeat_brought_the_topics_and_was_refused() -> None:
    """As after a rebuild: the job has yet to hear of the group, in the very call that brings the topics."""
    joined = take(heartbeat(0, subscribedTopicNames=["orders"]), 1_000)
    for epoch, error in ((2, 0), (9, 110)):
        brought = take(heartbeat(epoch, knownTopics=[ORDERS]), 2_000, joined)
        assert [line["body"]["errorCode"] for tag, line in lines(brought) if tag == "R"] == [error]
        assert group_of(brought).topics is not None
        assert needs(brought) == [(["orders"], [])]


def test_it_asks_again_when_its_subscription_changes_and_says_when_it_needs_no_more() -> None:
    joined = take(heartbeat(0, subscribedTopicNames=["orders"]), 1_000)
    told = take(topics(ORDERS), 2_000, joined)
    changed = take(
        heartbeat(2, subscribedTopicNames=["pay"], subscribedTopicRegex="o.*"), 3_000, told
    )
    assert needs(changed) == [(["pay"], ["o.*"])]
    left = take(heartbeat(-1), 4_000, changed)
    assert needs(left) == [([], [])]


def test_nobody_asks_where_nobody_answers() -> None:
    joined = call(row(heartbeat(0, subscribedTopicNames=["orders"]), 1_000), at_ms=1_000)
    assert needs(joined) == []


def test_topics_that_nobody_told_of_may_be_committed_to() -> None:
    told = take(topics(ORDERS), 1_000)
    assert error_of(take(commit("pay"), 2_000, told)) == 0
    assert error_of(take(commit("orders", partition=7), 2_000, told)) == 3


def error_of(update: GroupUpdate) -> int:
    [answer] = [line for tag, line in lines(update) if tag == "R"]
    error: int = answer["body"]["topics"][0]["partitions"][0]["errorCode"]
    return error


def commit(topic: str, partition: int = 0) -> Json:
    partitions = [{"partitionIndex": partition, "committedOffset": 1}]
    body = {"groupId": "g", "topics": [{"name": topic, "partitions": partitions}]}
    return COMMIT | {"body": body}


def stable() -> GroupUpdate:
    """A classic group of one consumer, which has orders-0."""
    joined = call(row(JOIN, 1_000), at_ms=5_500, context=ASKING)
    membership = group_of(joined).membership
    assert isinstance(membership, ClassicGroup)
    [member_id] = membership.members
    assignment = b64encode(encode_assignment({"orders": [0]})).decode()
    sync: Json = {
        "api": "SyncGroup",
        "version": 3,
        "correlationId": "s",
        "body": {
            "groupId": "g",
            "generationId": 1,
            "memberId": member_id,
            "assignments": [{"memberId": member_id, "assignment": assignment}],
        },
    }
    return call(row(sync, 6_000), at_ms=6_000, state=joined.state, context=ASKING)


def test_an_upgrade_waits_for_the_ids_of_its_topics() -> None:
    before = stable()
    asked = take(heartbeat(0, subscribedTopicNames=["orders"]), 7_000, before)
    assert tags(asked) == "RT"
    assert lines(asked)[0][1]["body"]["errorCode"] == 14
    assert needs(asked) == [(["orders"], [])]
    assert isinstance(group_of(asked).membership, ClassicGroup)
    told = take(topics(ORDERS), 8_000, asked)
    upgraded = take(heartbeat(0, subscribedTopicNames=["orders"]), 9_000, told)
    [answer] = [
        line for tag, line in lines(upgraded) if tag == "R" and line["correlationId"] == "c"
    ]
    assert answer["body"]["errorCode"] == 0
    consumers = group_of(upgraded).consumer
    assert consumers is not None
    assert consumers.owner_of(ORDERS["topicId"], 0) != "m"


def test_a_group_that_expires_in_the_same_batch_leaves_no_number_of_its_topics() -> None:
    rebuilt = snapshots.dump(Group("g", ConsumerGroup(), topics_version=7))
    joins = heartbeat(0, subscribedTopicRegex="o.*", knownTopics=[ORDERS])

    update = call(row(joins, 5_000), at_ms=5_000, state=rebuilt)

    records = [line for tag, line in lines(update) if tag == "L"]
    assert [record["reason"] for record in records][:3] == ["group-expired"] * 3
    assert [record["value"]["data"] for record in records if record["record_type"] == 16] == [
        {"topics": ["orders"], "version": 1, "timestamp": 5_000}
    ]
