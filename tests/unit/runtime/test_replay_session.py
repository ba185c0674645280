"""The conversation of replay-events: events, answers, and the time that passes."""

from __future__ import annotations

from tests.unit.runtime.replay_lines import commit, event, join, replay, say, tombstone


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
        {"kind": "error", "message": "time never goes back: at = 999, but it is 1000 already"}
    ]
    assert say(conversation, {"at": 1_000}) == []
    assert say(conversation, {"describe": "g"})[0]["state"] == "Dead"


def test_a_tick_is_nobodys() -> None:
    conversation = replay()

    tick = {"api": "Tick", "version": 0, "correlationId": "c"}
    assert say(conversation, {"at": 1, "event": tick}) == []


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


def test_a_groups_own_retention_moves_its_next_deadline_at_once() -> None:
    conversation = replay("offsets.retention.minutes=1", "offsets.retention.check.interval.ms=1000")
    say(conversation, {"at": 0, "event": commit("g")})
    say(conversation, {"at": 0, "event": commit("h")})

    def deadlines_with(value: str, at_ms: int) -> tuple[int, int]:
        """Of both groups, once g alone was given this retention."""
        change = {"name": "offsets.retention.ms", "configOperation": 0, "value": value}
        resource = {"resourceType": 32, "resourceName": "g", "configs": [change]}
        altered = event("IncrementalAlterConfigs", 1, "c", resources=[resource])
        [answer] = say(conversation, {"at": at_ms, "event": altered})
        assert answer["body"]["responses"][0]["errorCode"] == 0
        [g], [h] = (say(conversation, {"describe": group}) for group in ("g", "h"))
        return g["nextDeadline"], h["nextDeadline"]

    assert deadlines_with("120000", 10_000) == (120_000, 60_000)
    assert deadlines_with("5000", 11_000) == (12_000, 60_000)
    assert deadlines_with("-1", 11_500) == (60_000, 60_000)
    assert deadlines_with("12345", 11_501) == (13_000, 60_000)
    assert say(conversation, {"at": 12_999}) == []
    expired = [output["reason"] for output in say(conversation, {"at": 13_000})]
    assert expired == ["offset-expired", "group-expired"]


def test_a_group_waits_for_the_marker_of_a_transaction_until_it_is_told_of_it() -> None:
    conversation = replay()
    partition = {"partitionIndex": 0, "committedOffset": 42}
    topics = [{"name": "orders", "partitions": [partition]}]
    producer = {"groupId": "g", "producerId": 7, "producerEpoch": 0}
    offsets = event("TxnOffsetCommit", 3, **producer, topics=topics, markersEndOffset=100)
    marker = event("EndTxn", 0, **producer, committed=True, markerOffset=100)

    say(conversation, {"at": 1_000, "event": offsets})
    assert conversation.awaited_markers("g") == {7: 100}

    say(conversation, {"at": 2_000, "event": marker})
    assert conversation.awaited_markers("g") == {}
    assert conversation.awaited_markers("nobody") == {}
