"""Topics of the cluster in the conversation of replay-events."""

from __future__ import annotations

from tests.unit.runtime.replay_lines import ORDERS_ID, commit, event, replay, say, topics


def test_a_group_may_be_told_of_topics_before_it_exists() -> None:
    conversation = replay()
    told = event("TopicMetadata", 0, groupId="g", topics=[])
    assert say(conversation, {"at": 0, "event": told}) == []

    refused = say(conversation, {"at": 0, "event": commit("g", correlation_id="c")})
    assert refused[-1]["body"]["topics"][0]["partitions"][0]["errorCode"] == 3
    taken = say(conversation, {"at": 0, "event": commit("h", correlation_id="c")})
    assert taken[-1]["body"]["topics"][0]["partitions"][0]["errorCode"] == 0


def test_topics_event_and_description_in_one_line() -> None:
    line = topics(5, orders=ORDERS_ID) | {"event": commit("g"), "describe": "g"}

    record, group = say(replay(), line)

    assert record["value"]["data"]["topicId"] == ORDERS_ID
    assert group["offsets"][0]["committedOffset"] == 42
