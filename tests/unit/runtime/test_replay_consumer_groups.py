"""Consumer groups (KIP-848) in the conversation of replay-events."""

from __future__ import annotations

from typing import Any

from tests.unit.runtime.replay_lines import ORDERS_ID, OTHER_ID, event, replay, say

Json = dict[str, Any]


def topics(at_ms: int, partitions: int, topic_id: str = ORDERS_ID, **more: Any) -> Json:
    orders = {"name": "orders", "topicId": topic_id, "numPartitions": partitions, **more}
    return {"at": at_ms, "topics": [orders]}


def join(member_id: str, **more: Any) -> Json:
    usual = {"memberEpoch": 0, "rebalanceTimeoutMs": 60_000, "topicPartitions": []}
    body = usual | {"subscribedTopicNames": ["orders"]} | more
    return event("ConsumerGroupHeartbeat", 1, "c", groupId="g", memberId=member_id, **body)


def test_a_consumer_group_is_described_by_its_members() -> None:
    conversation = replay()
    say(conversation, topics(0, 2))
    say(conversation, {"at": 1_000, "event": join("m", subscribedTopicRegex="x.*")})

    assigned = [{"topic": "orders", "partition": 0}, {"topic": "orders", "partition": 1}]
    assert say(conversation, {"describe": "g"}) == [
        {
            "kind": "group",
            "groupId": "g",
            "type": "consumer",
            "state": "Stable",
            "protocolType": "consumer",
            "protocol": "uniform",
            "generationOrEpoch": 2,
            "assignmentEpoch": 2,
            "leader": None,
            "members": [
                {
                    "memberId": "m",
                    "groupInstanceId": None,
                    "clientId": "billing",
                    "clientHost": "/10.0.0.7",
                    "rackId": None,
                    "rebalanceTimeoutMs": 60_000,
                    "serverAssignor": None,
                    "subscribedTopics": ["orders"],
                    "subscribedTopicRegex": "x.*",
                    "memberEpoch": 2,
                    "previousMemberEpoch": 0,
                    "memberState": "STABLE",
                    "assignedPartitions": assigned,
                    "partitionsPendingRevocation": [],
                    "targetPartitions": assigned,
                }
            ],
            "offsets": [],
            "nextDeadline": 46_000,
        }
    ]


def test_a_pattern_is_resolved_in_the_line_that_brings_it() -> None:
    conversation = replay()
    say(conversation, topics(0, 2))

    outputs = say(
        conversation,
        {"at": 1_000, "event": join("m", subscribedTopicNames=None, subscribedTopicRegex="o.*")},
    )

    records = [output for output in outputs if output["kind"] == "record"]
    assert [record["key"]["type"] for record in records] == [5, 8, 16, 3]
    assert records[2]["value"]["data"] == {
        "topics": ["orders"],
        "version": 1,
        "timestamp": 1_000,
    }
    assert records[2]["reason"] == "topics-resolved"


def resolved_version(conversation: Any, at_ms: int) -> int:
    wish = join("m", subscribedTopicNames=None, subscribedTopicRegex="o.*")
    outputs = say(conversation, {"at": at_ms, "event": wish})
    (version,) = [
        output["value"]["data"]["version"]
        for output in outputs
        if output["kind"] == "record" and output["key"]["type"] == 16
    ]
    return int(version)


def test_the_version_of_the_topics_counts_the_changes() -> None:
    conversation = replay()
    say(conversation, topics(0, 2))
    say(conversation, topics(1, 3))
    assert resolved_version(conversation, 1_000) == 2

    # A topic that comes anew under its name was gone for one version.
    say(conversation, topics(20_000, 3, OTHER_ID))
    assert resolved_version(conversation, 40_000) == 4


def metadata_hash(*lines: Json) -> int:
    conversation = replay()
    for line in lines:
        say(conversation, line)
    outputs = say(conversation, {"at": 1_000, "event": join("m")})
    return int(outputs[1]["value"]["data"]["metadataHash"])


def test_a_line_without_racks_is_of_the_witness_cluster() -> None:
    """Its only broker is in a rack without a name, which the metadata hash covers."""
    told = [[""], [""]]

    assert metadata_hash(topics(0, 2)) == metadata_hash(topics(0, 2, racks=told))
    assert metadata_hash(topics(0, 2)) != metadata_hash(topics(0, 2, racks=[[], []]))


def test_partitions_never_get_fewer() -> None:
    assert metadata_hash(topics(0, 3), topics(1, 2)) == metadata_hash(topics(0, 3))
    anew = topics(1, 2, OTHER_ID)
    assert metadata_hash(topics(0, 3), anew) == metadata_hash(topics(0, 2, OTHER_ID))


def test_topic_metadata_may_tell_its_version() -> None:
    conversation = replay()
    orders = {"name": "orders", "topicId": ORDERS_ID, "numPartitions": 2}
    told = event("TopicMetadata", 0, groupId="g", topics=[orders])
    told["body"]["version"] = 77
    say(conversation, {"at": 0, "event": told})

    assert resolved_version(conversation, 1_000) == 77
