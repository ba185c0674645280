"""Groups as the conversation of replay-events describes them."""

from __future__ import annotations

from tests.unit.runtime.replay_lines import commit, event, join, replay, say


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
