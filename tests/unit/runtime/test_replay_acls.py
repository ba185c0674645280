"""Rules of who may do what, in the conversation of replay-events."""

from __future__ import annotations

import pytest

from tests.unit.runtime.replay_lines import (
    ORDERS_ID,
    OTHER_ID,
    Json,
    commit,
    event,
    replay,
    say,
    topics,
)


def rule(principal: str, operation: str, kind: str, name: str) -> Json:
    return {
        "resourceType": kind,
        "resourceName": name,
        "patternType": "LITERAL",
        "principal": principal,
        "host": "*",
        "operation": operation,
        "permissionType": "ALLOW",
    }


def by(principal: str, said: Json) -> Json:
    return said | {"principal": principal}


def code(outputs: list[Json]) -> int:
    [answer] = [output for output in outputs if output["kind"] == "response"]
    found: int = answer["body"]["topics"][0]["partitions"][0]["errorCode"]
    return found


def test_rules_count_from_the_line_that_says_them() -> None:
    conversation = replay()
    asked = by("User:billing", commit("g", correlation_id="c"))
    read = [rule("User:billing", "READ", kind, name) for kind, name in KINDS]

    assert code(say(conversation, {"at": 0, "event": asked})) == 0
    assert say(conversation, {"at": 1, "acls": []}) == []
    assert code(say(conversation, {"at": 2, "event": asked})) == 30
    assert code(say(conversation, {"at": 3, "acls": read[:1], "event": asked})) == 29
    assert code(say(conversation, {"at": 4, "acls": read, "event": asked})) == 0
    assert code(say(conversation, {"at": 5, "acls": [], "event": asked})) == 30
    everybody = {"acls": [], "allowEveryoneIfNoAclFound": True}
    assert code(say(conversation, {"at": 6, **everybody, "event": asked})) == 0
    supers = {"acls": [], "superUsers": ["User:billing"]}
    assert code(say(conversation, {"at": 7, **supers, "event": asked})) == 0
    assert code(say(conversation, {"at": 8, "acls": None, "event": asked})) == 0


KINDS = (("GROUP", "g"), ("TOPIC", "orders"))


def test_a_denial_is_told_behind_the_answer() -> None:
    conversation = replay()
    say(conversation, {"at": 0, "acls": []})

    answer, denial = say(conversation, {"at": 5, "event": commit("g", correlation_id="c")})

    assert answer["kind"] == "response"
    assert denial == {
        "kind": "denial",
        "groupId": "g",
        "at": 5,
        "api": "OffsetCommit",
        "principal": "User:ANONYMOUS",
        "clientHost": "/10.0.0.7",
        "operation": "READ",
        "resourceType": "GROUP",
        "resourceName": "g",
    }
    assert say(conversation, {"describe": "g"})[0]["state"] == "Dead"


def test_patterns_match_what_their_sender_may_see_and_the_conversation_itself_tells_topics() -> (
    None
):
    conversation = replay()
    rules = [rule("User:billing", "READ", kind, name) for kind, name in KINDS]
    say(conversation, topics(0, orders=ORDERS_ID, secret=OTHER_ID) | {"acls": rules})
    beat = event(
        "ConsumerGroupHeartbeat",
        1,
        "c",
        groupId="g",
        memberId="m",
        memberEpoch=0,
        rebalanceTimeoutMs=60_000,
        subscribedTopicRegex=".*",
        topicPartitions=[],
    )

    outputs = say(conversation, {"at": 1, "event": by("User:billing", beat)})

    matched = [o["value"]["data"]["topics"] for o in outputs if o.get("key", {}).get("type") == 16]
    assert matched == [["orders"]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"acls": []}, "a line needs `at` or `describe`"),
        ({"describe": "g", "acls": []}, "an event, topics and acls need `at`"),
        (
            {"at": 1, "superUsers": ["User:a"]},
            "superUsers and allowEveryoneIfNoAclFound need `acls`",
        ),
        (
            {"at": 1, "acls": [], "superUsers": ["a"]},
            'superUsers[0] = "a": is not TYPE:NAME, such as User:billing',
        ),
        (
            {"at": 1, "acls": [rule("User:a", "READD", "GROUP", "g")]},
            "not a line: Invalid enum value 'READD' - at `$.acls[0].operation`",
        ),
    ],
)
def test_rules_that_are_none_are_told(line: Json, message: str) -> None:
    assert say(replay(), line) == [{"kind": "error", "message": message}]
