"""Streams groups of a mirrored cluster become rows of groups, members and offsets."""

from __future__ import annotations

import pytest

from tests.support.mirrored_log import MirroredLog, MirroredTables

MEMBER = {
    "instanceId": "i",
    "rackId": None,
    "clientId": "totals",
    "clientHost": "/10.0.0.1",
    "rebalanceTimeoutMs": 45_000,
    "topologyEpoch": 1,
    "processId": "p",
    "userEndpoint": None,
    "clientTags": [],
}
TOPOLOGY = {
    "epoch": 1,
    "subtopologies": [
        {"subtopologyId": "0", "sourceTopics": ["orders"], "repartitionSourceTopics": []},
        {
            "subtopologyId": "1",
            "sourceTopics": ["bills"],
            "repartitionSourceTopics": [{"name": "by-customer", "partitions": 0}],
        },
    ],
}


def epoch(number: int, validated: int = 1) -> dict[str, int]:
    return {"epoch": number, "metadataHash": 5, "validatedTopologyEpoch": validated}


def has(member_epoch: int, state: int = 1, **tasks: list[int]) -> dict[str, object]:
    active = [{"subtopologyId": name[-1], "partitions": found} for name, found in tasks.items()]
    standby = [{"subtopologyId": "1", "partitions": [9]}]
    epochs = {"memberEpoch": member_epoch, "previousMemberEpoch": member_epoch - 1}
    return epochs | {"state": state, "activeTasks": active, "standbyTasks": standby}


def joined() -> MirroredLog:
    log = MirroredLog()
    log.record(19, MEMBER, memberId="a")
    log.record(23, TOPOLOGY)
    log.record(17, epoch(2))
    log.record(20, {"assignmentEpoch": 2})
    log.record(22, has(2, of_0=[1, 0], of_1=[0]), memberId="a")
    return log


def test_a_member_joins() -> None:
    tables = MirroredTables()
    tables.take(joined())

    group, member = tables.group, tables.rows.members["a"]
    assert (group.group_type, group.protocol_type, group.state) == ("streams", "streams", "Stable")
    assert (group.generation_or_epoch, group.assignment_epoch, group.member_count) == (2, 2, 1)
    assert (member.group_instance_id, member.client_id) == ("i", "totals")
    assert (member.rebalance_timeout_ms, member.member_epoch) == (45_000, 2)
    assert (member.member_type, member.member_state) == ("streams", "STABLE")
    assert member.subscribed_topics == ["bills", "by-customer", "orders"]
    assert tables.assigned("a") == [("bills", 0), ("by-customer", 0), ("orders", 0), ("orders", 1)]


@pytest.mark.parametrize(
    ("changed", "state"),
    [
        ((17, epoch(2, validated=0)), "NotReady"),
        ((23, None), "NotReady"),
        ((17, epoch(3)), "Assigning"),
        ((20, {"assignmentEpoch": 3}), "Reconciling"),
    ],
    ids=["topology not validated", "no topology", "no target yet", "not there yet"],
)
def test_states(changed: tuple[int, dict[str, int] | None], state: str) -> None:
    tables, log = MirroredTables(), joined()
    log.record(*changed)
    tables.take(log)
    assert tables.group.state == state


def test_a_member_that_has_yet_to_give_back_tasks_keeps_the_group_from_being_stable() -> None:
    tables, log = MirroredTables(), joined()
    log.record(22, has(2, state=2, of_0=[0]), memberId="a")
    tables.take(log)
    assert tables.group.state == "Reconciling"
    assert tables.rows.members["a"].member_state == "UNREVOKED_TASKS"


def test_what_is_assigned_is_not_readable_without_a_topology() -> None:
    tables, log = MirroredTables(), MirroredLog()
    log.record(22, has(2, of_0=[0]), memberId="a")
    tables.take(log)
    assert tables.assigned("a") is None

    log.record(23, TOPOLOGY)
    tables.take(log)
    assert tables.assigned("a") == [("orders", 0)]


def test_topics_are_protected_as_long_as_anybody_reads_them() -> None:
    tables, log = MirroredTables(), joined()
    log.commit("orders", 0, 42)
    log.commit("elsewhere", 0, 42)
    tables.take(log)
    assert tables.group.expiration_base == "commit"
    assert tables.group.protected_topics == ["bills", "by-customer", "orders"]
    assert tables.rows.offsets["orders", 0].expires_at is None
    assert tables.rows.offsets["elsewhere", 0].expires_at == 70_000

    for record_type in (22, 21, 19):
        log.record(record_type, None, memberId="a")
    log.record(17, epoch(3))
    tables.take(log)
    assert (tables.group.state, tables.group.empty_since) == ("Empty", 11_000)
    assert tables.group.protected_topics == []
    assert tables.rows.offsets["orders", 0].expires_at == 70_000


def test_it_ends_with_the_tombstone_of_its_topology_and_may_be_a_group_of_another_kind() -> None:
    tables, log = MirroredTables(), joined()
    for record_type in (22, 19):
        log.record(record_type, None, memberId="a")
    for record_type in (20, 17, 23):
        log.record(record_type, None)
    tables.take(log)
    assert tables.rows.group is None

    log.record(11, {"epoch": 1, "metadataHash": 0})
    tables.take(log)
    assert tables.group.group_type == "share"
