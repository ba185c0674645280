"""Share groups of a mirrored cluster become rows of groups and members."""

from __future__ import annotations

from msgspec import to_builtins

from tests.support.mirrored_log import MirroredLog, MirroredTables

ORDERS = "4ksO1bcLSgCStYJnTlCVLg"
MEMBER = {
    "rackId": "rack-1",
    "clientId": "sorter",
    "clientHost": "/10.0.0.1",
    "subscribedTopicNames": ["orders", "bills"],
}
BOTH = {"topicPartitions": [{"topicId": ORDERS, "partitions": [1, 0]}]}
HAS_ONE = {
    "memberEpoch": 2,
    "previousMemberEpoch": 1,
    "state": 0,
    "assignedPartitions": [{"topicId": ORDERS, "partitions": [0]}],
}


def joined() -> MirroredLog:
    log = MirroredLog()
    log.record(10, MEMBER, memberId="a")
    log.record(11, {"epoch": 2, "metadataHash": 77})
    log.record(13, BOTH, memberId="a")
    log.record(12, {"assignmentEpoch": 2, "assignmentTimestamp": 900})
    log.record(14, HAS_ONE, memberId="a")
    return log


def test_a_member_joins() -> None:
    tables = MirroredTables({ORDERS: "orders"})
    tables.take(joined())

    row = to_builtins(tables.group)
    records = row.pop("records")
    assert row == {
        "cluster_id": "eu-1",
        "group_id": "g",
        "updated_at": 5_000,
        "batch_id": 4,
        "group_type": "share",
        "state": "Stable",
        "protocol_type": "share",
        "protocol": None,
        "generation_or_epoch": 2,
        "leader": None,
        "member_count": 1,
        "offset_count": 0,
        "empty_since": None,
        "next_expiration": None,
        "expiration_base": "never",
        "protected_topics": [],
        "assignment_epoch": 2,
        "assignment_timestamp": 900,
        "metadata_hash": 77,
        "resolved_regexes": None,
    }
    assert records.startswith('{"group":{"11":{"epoch": 2, "metadataHash": 77},"12":{')
    member = to_builtins(tables.rows.members["a"])
    assert {name: value for name, value in member.items() if value is not None} == {
        "cluster_id": "eu-1",
        "group_id": "g",
        "updated_at": 5_000,
        "batch_id": 4,
        "member_id": "a",
        "member_type": "share",
        "client_id": "sorter",
        "client_host": "/10.0.0.1",
        "rack_id": "rack-1",
        "subscribed_topics": ["bills", "orders"],
        "assigned_partitions": [{"topic": "orders", "partition": 0}],
        "member_epoch": 2,
        "previous_member_epoch": 1,
        "member_state": "STABLE",
        "target_assignment": [
            {"topic": "orders", "topic_id": ORDERS, "partition": 0},
            {"topic": "orders", "topic_id": ORDERS, "partition": 1},
        ],
    }


def test_the_last_member_leaves_and_the_group_is_deleted() -> None:
    tables, log = MirroredTables(), joined()
    tables.take(log)

    for record_type in (14, 13, 10):
        log.record(record_type, None, memberId="a")
    log.record(11, {"epoch": 3, "metadataHash": 77})
    tables.take(log)
    assert tables.rows.members == {}
    assert (tables.group.state, tables.group.empty_since) == ("Empty", 9_000)
    assert tables.group.generation_or_epoch == 3

    for record_type in (12, 15, 11):
        log.record(record_type, None)
    tables.take(log)
    assert tables.rows.group is None


def test_the_name_of_a_topic_comes_when_the_group_is_next_touched() -> None:
    tables, log = MirroredTables(), joined()
    tables.take(log)
    assert tables.assigned("a") == [(ORDERS, 0)]

    tables.topic_names = {ORDERS: "orders"}
    log.record(15, {"initializingTopics": [], "initializedTopics": [], "deletingTopics": []})
    tables.take(log)
    assert tables.assigned("a") == [("orders", 0)]


def test_siblings_that_a_cleaner_has_taken_away_are_not_asked_for() -> None:
    """What is left of a member may be its target alone, its assignment, or tombstones of nobody."""
    tables, log = MirroredTables({ORDERS: "orders"}), MirroredLog()
    log.record(13, None, memberId="gone")
    log.record(10, None, memberId="gone")
    log.record(11, None)
    tables.take(log)
    assert tables.rows.group is None

    log.record(13, BOTH, memberId="a")
    tables.take(log)
    assert (tables.group.state, tables.rows.members) == ("Empty", {})

    log.record(14, HAS_ONE, memberId="a")
    tables.take(log)
    member = tables.rows.members["a"]
    assert (member.client_id, tables.assigned("a")) == ("", [("orders", 0)])
    assert [each.partition for each in member.target_assignment or ()] == [0, 1]
    assert tables.group.state == "Stable"
