from __future__ import annotations

import json
from typing import Any

import pytest

from group_coordinator.replay_session import Replay
from group_coordinator.settings import load

Json = dict[str, Any]

DONE = {"kind": "done"}
ORDERS_ID = "4ksO1bcLSgCStYJnTlCVLg"
OTHER_ID = "AAAAAAAAAAAAAAAAAAAAAQ"


def replay(*overrides: str) -> Replay:
    return Replay(load(overrides=overrides).coordinator)


def say(conversation: Replay, line: Json) -> list[Json]:
    *outputs, last = conversation.line(json.dumps(line))
    assert last == DONE
    assert json.loads(json.dumps(outputs)) == outputs
    return outputs


def event(api: str, version: int, correlation_id: str | None = None, **body: object) -> Json:
    return {
        "api": api,
        "version": version,
        "correlationId": correlation_id,
        "clientId": "billing",
        "clientHost": "/10.0.0.7",
        "body": body,
    }


def commit(group_id: str, offset: int = 42, correlation_id: str | None = None) -> Json:
    partition = {"partitionIndex": 0, "committedOffset": offset}
    topics = [{"name": "orders", "partitions": [partition]}]
    return event("OffsetCommit", 8, correlation_id, groupId=group_id, topics=topics)


def join(group_id: str, member_id: str = "", correlation_id: str | None = None) -> Json:
    return event(
        "JoinGroup",
        4,
        correlation_id,
        groupId=group_id,
        memberId=member_id,
        sessionTimeoutMs=10_000,
        rebalanceTimeoutMs=60_000,
        protocolType="consumer",
        protocols=[{"name": "range", "metadata": "AAAAAAABAAZvcmRlcnP/////"}],
    )


def tombstone(group_id: str, at_ms: int, reason: str) -> Json:
    key = {"type": 1, "data": {"group": group_id, "topic": "orders", "partition": 0}}
    return {
        "kind": "record",
        "groupId": group_id,
        "at": at_ms,
        "reason": reason,
        "key": key,
        "value": None,
    }


def topics(at_ms: int, **ids: str) -> Json:
    known = [
        {"name": name, "topicId": topic_id, "numPartitions": 1} for name, topic_id in ids.items()
    ]
    return {"at": at_ms, "topics": known}


def test_a_commit_gives_a_record_and_a_response() -> None:
    conversation = replay()

    outputs = say(conversation, {"at": 1_000, "event": commit("g", correlation_id="c-1")})

    offset = {"offset": 42, "leaderEpoch": -1, "metadata": "", "commitTimestamp": 1_000}
    record = tombstone("g", 1_000, "offset-commit") | {"value": {"version": 4, "data": offset}}
    results = [{"name": "orders", "partitions": [{"partitionIndex": 0, "errorCode": 0}]}]
    response = {
        "kind": "response",
        "id": "replay-0-1",
        "correlationId": "c-1",
        "api": "OffsetCommit",
        "version": 8,
        "groupId": "g",
        "at": 1_000,
        "body": {"throttleTimeMs": 0, "topics": results},
    }
    assert outputs == [record, response]
    assert [list(output) for output in outputs] == [
        ["kind", "groupId", "at", "reason", "key", "value"],
        ["kind", "id", "correlationId", "api", "version", "groupId", "at", "body"],
    ]


def test_nobody_is_answered_who_did_not_ask() -> None:
    outputs = say(replay(), {"at": 1_000, "event": commit("g")})

    assert [output["kind"] for output in outputs] == ["record"]


def test_kip_211_to_the_millisecond() -> None:
    conversation = replay("offsets.retention.ms=60000", "offsets.retention.check.interval.ms=1000")

    say(conversation, {"at": 1_500, "event": commit("g")})

    assert say(conversation, {"at": 61_999}) == []
    assert say(conversation, {"at": 62_000})[0] == tombstone("g", 62_000, "offset-expired")


def test_deadlines_of_all_groups_fire_in_order_of_time_then_of_group_id() -> None:
    conversation = replay("offsets.retention.ms=1000", "offsets.retention.check.interval.ms=1000")
    say(conversation, {"at": 500, "event": commit("late")})
    say(conversation, {"at": 0, "event": commit("unheard")})
    for group_id in ("b", "a"):
        say(conversation, {"at": 1_000, "event": commit(group_id)})
    say(conversation, {"at": 1_500, "event": commit("z")})

    outputs = say(conversation, {"at": 9_000})

    fired = [(o["at"], o["groupId"]) for o in outputs if o["key"]["type"] == 1]
    assert fired == [(2_000, "a"), (2_000, "b"), (2_000, "late"), (3_000, "z")]


def test_a_deadline_comes_before_an_event_of_its_millisecond() -> None:
    conversation = replay()
    member_id = say(conversation, {"at": 0, "event": join("g", correlation_id="c-1")})[1]["body"][
        "memberId"
    ]
    say(conversation, {"at": 0, "event": join("g", member_id)})
    say(conversation, {"at": 3_000})

    heartbeat = event("Heartbeat", 4, "c-2", groupId="g", memberId=member_id, generationId=1)
    outputs = say(conversation, {"at": 13_000, "event": heartbeat})

    assert [output["kind"] for output in outputs] == ["record", "response"]
    assert outputs[0]["reason"] == "session-timeout"
    assert outputs[1]["body"]["errorCode"] == 25


def test_a_new_member_id_follows_from_the_line() -> None:
    ids = {
        say(replay(), {"at": 0, "event": join("g", correlation_id="c")})[-1]["body"]["memberId"]
        for _ in range(2)
    }

    assert ids == {"billing-bda8fe41-6020-5fd4-b695-f07807763c0a"}


def test_time_never_goes_back() -> None:
    conversation = replay()
    say(conversation, {"at": 1_000})

    assert say(conversation, {"at": 999, "event": commit("g")}) == [
        {
            "kind": "error",
            "message": "time never goes back: at = 999, but it is 1000 already",
        }
    ]
    assert say(conversation, {"at": 1_000}) == []
    assert say(conversation, {"describe": "g"})[0]["state"] == "Dead"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello", "not a line: JSON is malformed"),
        ("[]", "not a line: Expected `object`, got `array`"),
        ("{}", "a line needs `at` or `describe`"),
        ('{"event": {}}', "a line needs `at` or `describe`"),
        ('{"describe": "g", "event": {}}', "an event and topics need `at`"),
        ('{"at": -1}', "not a line: Expected `int` >= 0"),
        ('{"at": 1.5}', "not a line: Expected `int`, got `float`"),
        ('{"at": 1, "evnet": {}}', "not a line: Object contains unknown field `evnet`"),
        ('{"at": 1, "topics": [{"name": "t"}]}', "not a line: Object missing required field"),
        ('{"at": 1, "event": ' + "[" * 5_000 + "}", "not a line: "),
        ("\udcff", "not a line: "),
    ],
    ids=lambda text: text[:20].encode(errors="replace").decode(),
)
def test_a_line_that_is_none_is_told(text: str, message: str) -> None:
    error, done = replay().line(text)

    assert (error["kind"], done) == ("error", DONE)
    assert error["message"].startswith(message)


def test_an_event_that_is_none_is_a_dead_letter_and_is_answered() -> None:
    conversation = replay()

    outputs = say(conversation, {"at": 5, "event": event("Heartbeat", 0, "c-1", groupid="g")})

    reason = "body: Object contains unknown field `groupid`"
    assert [output["kind"] for output in outputs] == ["response", "deadLetter"]
    assert outputs[0]["body"] == {"errorCode": 42, "errorMessage": reason}
    assert outputs[1]["reason"] == reason
    unanswered = say(conversation, {"at": 5, "event": {"api": "Heartbeat"}})
    assert [output["kind"] for output in unanswered] == ["deadLetter"]


def test_a_version_that_is_not_spoken_is_answered_only() -> None:
    conversation = replay()

    asked = say(conversation, {"at": 5, "event": event("Heartbeat", 5, "c-1", groupId="g")})
    assert [(o["kind"], o["groupId"], o["body"]["errorCode"]) for o in asked] == [
        ("response", "g", 35)
    ]
    silent = say(conversation, {"at": 5, "event": event("Heartbeat", 5, groupId="g")})
    assert [output["kind"] for output in silent] == ["deadLetter"]


def test_a_dead_letter_does_not_stop_the_clock() -> None:
    conversation = replay("offsets.retention.ms=1000", "offsets.retention.check.interval.ms=1000")
    say(conversation, {"at": 0, "event": commit("g")})

    outputs = say(conversation, {"at": 1_000, "event": {}})

    assert outputs[0] == tombstone("g", 1_000, "offset-expired")
    assert outputs[-1]["kind"] == "deadLetter"


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


def test_a_group_that_is_not_there_is_dead() -> None:
    assert say(replay(), {"describe": "g"}) == [
        {
            "kind": "group",
            "groupId": "g",
            "type": None,
            "state": "Dead",
            "protocolType": None,
            "protocol": None,
            "generationOrEpoch": None,
            "leader": None,
            "members": [],
            "offsets": [],
            "nextDeadline": None,
        }
    ]


def test_a_simple_group_is_described_by_its_offsets() -> None:
    conversation = replay("offsets.retention.ms=60000")
    say(conversation, {"at": 1_000, "event": commit("g")})

    offset = {
        "topic": "orders",
        "partition": 0,
        "committedOffset": 42,
        "leaderEpoch": -1,
        "metadata": "",
        "commitTimestamp": 1_000,
        "expireTimestamp": -1,
    }
    assert say(conversation, {"describe": "g"}) == [
        {
            "kind": "group",
            "groupId": "g",
            "type": "classic",
            "state": "Empty",
            "protocolType": "",
            "protocol": "",
            "generationOrEpoch": 0,
            "leader": None,
            "members": [],
            "offsets": [offset],
            "nextDeadline": 600_000,
        }
    ]


def test_a_group_of_consumers_is_described_by_its_members() -> None:
    conversation = replay()
    joined = say(conversation, {"at": 0, "event": join("g", correlation_id="c-1")})
    member_id = joined[-1]["body"]["memberId"]
    say(conversation, {"at": 0, "event": join("g", member_id)})
    say(conversation, {"at": 3_000})
    (waiting,) = say(conversation, {"describe": "g"})
    assignment = {"memberId": member_id, "assignment": "AAAAAAABAAZvcmRlcnMAAAACAAAAAAAAAAH/////"}
    sync = event(
        "SyncGroup", 0, groupId="g", generationId=1, memberId=member_id, assignments=[assignment]
    )
    say(conversation, {"at": 3_000, "event": sync})
    (stable,) = say(conversation, {"describe": "g"})

    assert (waiting["state"], waiting["protocol"]) == ("CompletingRebalance", "")
    assert (stable["state"], stable["protocol"], stable["protocolType"]) == (
        "Stable",
        "range",
        "consumer",
    )
    assert (stable["generationOrEpoch"], stable["leader"]) == (1, member_id)
    assert stable["nextDeadline"] == 13_000
    assert stable["members"] == [
        {
            "memberId": member_id,
            "groupInstanceId": None,
            "clientId": "billing",
            "clientHost": "/10.0.0.7",
            "sessionTimeoutMs": 10_000,
            "rebalanceTimeoutMs": 60_000,
            "subscribedTopics": ["orders"],
            "assignedPartitions": [
                {"topic": "orders", "partition": 0},
                {"topic": "orders", "partition": 1},
            ],
        }
    ]


def test_a_tick_is_nobodys() -> None:
    conversation = replay()

    tick = {"api": "Tick", "version": 0, "correlationId": "c"}
    assert say(conversation, {"at": 1, "event": tick}) == []


def test_an_event_that_is_too_long_is_not_read() -> None:
    line = {"at": 1, "event": commit("g", correlation_id="c-1")}
    size = len(json.dumps(line["event"]))
    assert [output["kind"] for output in say(replay(f"event.max.bytes={size}"), line)] == [
        "record",
        "response",
    ]

    (letter,) = say(replay(f"event.max.bytes={size - 1}"), line)

    assert (letter["kind"], letter["correlationId"]) == ("deadLetter", None)
    assert letter["reason"] == (
        f"the event has {size} bytes: more than event.max.bytes = {size - 1}"
    )


def test_settings_of_a_group_that_does_not_exist_are_kept_and_no_record_is_shown() -> None:
    conversation = replay()
    name = "consumer.session.timeout.ms"
    resource = {"resourceType": 32, "resourceName": "g"}
    change = {"name": name, "configOperation": 0, "value": "50000"}
    altered = event(
        "IncrementalAlterConfigs", 1, "c1", resources=[resource | {"configs": [change]}]
    )
    asked = event("DescribeConfigs", 1, "c2", resources=[resource | {"configurationKeys": [name]}])

    [answer] = say(conversation, {"at": 0, "event": altered})
    assert answer["kind"] == "response"
    assert answer["body"]["responses"][0]["errorCode"] == 0
    [answer] = say(conversation, {"at": 1, "event": asked})
    assert answer["body"]["results"][0]["configs"][0]["value"] == "50000"
