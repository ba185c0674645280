"""Topics of the cluster in the conversation of replay-events."""

from __future__ import annotations

from tests.unit.runtime.replay_lines import (
    ORDERS_ID,
    OTHER_ID,
    commit,
    event,
    replay,
    say,
    tombstone,
    topics,
)


def test_groups_learn_the_topics_of_the_cluster() -> None:
    conversation = replay()
    say(conversation, {"at": 0, "event": commit("early")})
    say(conversation, topics(1, payments=OTHER_ID))

    for group_id in ("early", "new"):
        refused = say(conversation, {"at": 2, "event": commit(group_id, correlation_id="c")})
        assert refused[-1]["body"]["topics"][0]["partitions"][0]["errorCode"] == 3


def test_a_group_may_be_told_of_topics_before_it_exists() -> None:
    conversation = replay()
    told = event("TopicMetadata", 0, groupId="g", topics=[])
    assert say(conversation, {"at": 0, "event": told}) == []

    refused = say(conversation, {"at": 0, "event": commit("g", correlation_id="c")})
    assert refused[-1]["body"]["topics"][0]["partitions"][0]["errorCode"] == 3
    taken = say(conversation, {"at": 0, "event": commit("h", correlation_id="c")})
    assert taken[-1]["body"]["topics"][0]["partitions"][0]["errorCode"] == 0


def test_a_topic_that_is_gone_takes_its_offsets_along() -> None:
    conversation = replay()
    say(conversation, topics(0, orders=ORDERS_ID, payments=OTHER_ID))
    for group_id in ("b", "a"):
        say(conversation, {"at": 0, "event": commit(group_id)})

    assert say(conversation, topics(1, orders=ORDERS_ID)) == []
    assert say(conversation, topics(2, payments=OTHER_ID)) == [
        tombstone("a", 2, "topic-deleted"),
        tombstone("b", 2, "topic-deleted"),
    ]


def test_a_topic_that_comes_anew_was_deleted_before() -> None:
    conversation = replay()
    say(conversation, topics(0, orders=ORDERS_ID))
    say(conversation, {"at": 0, "event": commit("g")})

    assert say(conversation, topics(1, orders=OTHER_ID)) == [tombstone("g", 1, "topic-deleted")]
    committed = say(conversation, {"at": 1, "event": commit("g")})
    assert committed[0]["value"]["data"]["topicId"] == OTHER_ID


def test_topics_event_and_description_in_one_line() -> None:
    line = topics(5, orders=ORDERS_ID) | {"event": commit("g"), "describe": "g"}

    record, group = say(replay(), line)

    assert record["value"]["data"]["topicId"] == ORDERS_ID
    assert group["offsets"][0]["committedOffset"] == 42
