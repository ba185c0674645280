"""What happens to groups, told by the state machine and asked of the views."""

from __future__ import annotations

from pathlib import Path

from group_coordinator.core.model.requests import Topic
from tests.support.group_history import GroupHistory, asked, at, tables_of

ORDERS = Topic("orders", "AAAAAAAAAAAAAAAAAAAAAQ", 3)


TIMELINE = "SELECT at, what, members, generation_or_epoch, detail FROM group_timeline ORDER BY batch_id, seq"


def test_two_lives_of_a_classic_group(tmp_path: Path) -> None:
    group = GroupHistory(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=10_000)
    first, second = group.form(2)
    group.alter_configs({"offsets.retention.ms": "30000"})
    group.alter_configs({"offsets.retention.ms": None})
    group.sleep(1_000)
    group.leave(first, second)
    group.delete()
    group.sleep(1_000)
    group.commit({"orders": {0: 1}})
    group.sleep(90_000)

    assert asked(tables_of(tmp_path, group), TIMELINE) == [
        (at(0), "created", 0, 0, "join"),
        (at(6), "rebalanced", 2, 1, "sync"),
        (at(6), "setting", 2, 1, "offsets.retention.ms = 30000"),
        (at(6), "setting", 2, 1, "offsets.retention.ms taken back"),
        (at(7), "emptied", 0, 2, "leave"),
        (at(7), "deleted", 0, 2, "group-deleted"),
        (at(8), "created", 0, None, "offset-commit"),
        (at(70), "expired", 0, None, "group-expired"),
    ]


def test_a_static_member_that_comes_back_changes_no_generation(tmp_path: Path) -> None:
    group = GroupHistory(group_initial_rebalance_delay_ms=0)
    first = group.join(instance_id="i-1").response
    group.sync(first.member_id, 1)
    group.sleep(1_000)
    second = group.join(instance_id="i-1").response

    assert second.member_id != first.member_id
    assert asked(tables_of(tmp_path, group), TIMELINE) == [
        (at(0), "created", 0, 0, "join"),
        (at(0), "rebalanced", 1, 1, "sync"),
        (at(1), "member-changed", 1, 1, "join"),
    ]


def test_members_of_a_consumer_group_come_and_go(tmp_path: Path) -> None:
    group = GroupHistory(group_consumer_session_timeout_ms=45_000)
    group.learn_topics(ORDERS)
    group.consumers.join("a", ["orders"])
    group.sleep(1_000)
    group.consumers.join("b", ["orders"])
    group.sleep(1_000)
    group.consumers.leave("a")
    group.sleep(60_000)
    root = tables_of(tmp_path, group)

    assert asked(root, TIMELINE) == [
        (at(0), "created", 1, None, "join"),
        (at(0), "joined", 1, None, "a: join"),
        (at(0), "rebalanced", 1, 2, "join"),
        (at(1), "joined", 2, 2, "b: join"),
        (at(1), "rebalanced", 2, 3, "join"),
        (at(2), "left", 1, 3, "a: leave"),
        (at(2), "rebalanced", 1, 4, "leave"),
        (at(46), "timed-out", 0, 4, "b: session-timeout"),
        (at(46), "emptied", 0, 5, "session-timeout"),
    ]


def test_an_upgrade_and_a_downgrade_tell_the_members_of_both_protocols(tmp_path: Path) -> None:
    group = GroupHistory()
    group.learn_topics(ORDERS)
    old = group.form(2)
    group.sleep(1_000)
    group.consumers.join("new", ["orders"])
    group.sleep(1_000)
    group.leave(old[0])
    group.sleep(1_000)
    group.consumers.leave("new")

    assert asked(
        tables_of(tmp_path, group),
        "SELECT at, what, members, classic_members, generation_or_epoch, detail FROM group_timeline ORDER BY batch_id, seq",
    ) == [
        (at(0), "created", 0, 0, 0, "join"),
        (at(6), "rebalanced", 2, 2, 1, "sync"),
        (at(7), "converted", 2, 2, 1, "to a consumer group: upgrade"),
        (at(7), "joined", 3, 2, 1, "new: join"),
        (at(7), "rebalanced", 3, 2, 2, "join"),
        (at(8), "left", 2, 1, 2, f"{old[0]}: leave"),
        (at(8), "rebalanced", 2, 1, 3, "leave"),
        (at(9), "converted", 1, 1, 3, "to a classic group: downgrade"),
    ]


def test_a_name_passes_from_a_consumer_group_to_a_classic_one(tmp_path: Path) -> None:
    group = GroupHistory(group_initial_rebalance_delay_ms=0)
    group.learn_topics(ORDERS)
    group.consumers.join("a", ["orders"])
    group.commit({"orders": {0: 3}}, "a", group.consumers.epochs["a"], version=9)
    group.consumers.leave("a")
    group.form()
    root = tables_of(tmp_path, group)

    told = asked(root, "SELECT what, detail FROM group_timeline ORDER BY batch_id, seq")
    assert told[:5] == [
        ("created", "join"),
        ("joined", "a: join"),
        ("rebalanced", "join"),
        ("left", "a: leave"),
        ("emptied", "leave"),
    ]
    assert told[5:] == [
        ("converted", "to a classic group: join"),
        ("rebalanced", "sync"),
    ]
    assert asked(root, "SELECT by_member, `after` FROM offset_changes") == [(True, 3)]


def test_who_reads_a_topic(tmp_path: Path) -> None:
    consumers = GroupHistory("consumers")
    consumers.learn_topics(ORDERS)
    consumers.consumers.join("a", ["orders"], topic_regex="ref.*")
    consumers.consumers.join("b", ["orders"])
    consumers.consumers.beat("a", {})
    consumers.consumers.beat("b", {ORDERS.topic_id: []})
    epoch = consumers.consumers.epochs["b"]
    consumers.commit({"orders": {0: 3, 1: 4}}, "b", epoch, version=9)
    classic = GroupHistory("classic", group_initial_rebalance_delay_ms=0)
    classic.form(topics=("orders", "bills"))
    reader = GroupHistory("reader", start_ms=5_000)
    reader.commit({"orders": {0: 1}})
    gone = GroupHistory("gone")
    gone.commit({"orders": {0: 1}})
    gone.delete()
    root = tables_of(tmp_path, consumers, classic, reader, gone)

    assert asked(
        root,
        "SELECT group_id, group_type, is_subscribed, subscribed_members, committed_partitions, last_commit_at "
        "FROM topic_groups WHERE topic = 'orders' ORDER BY group_id",
    ) == [
        ("classic", "classic", True, 1, 0, None),
        ("consumers", "consumer", True, 2, 2, at(0)),
        ("reader", "classic", False, 0, 1, at(5)),
    ]
    assert asked(root, "SELECT group_id FROM topic_groups WHERE topic = 'bills'") == [("classic",)]
    [(assigned,)] = asked(
        root,
        "SELECT assigned_partitions FROM topic_groups WHERE topic = 'orders' AND group_id = 'consumers'",
    )
    assert assigned == sum(
        len(numbers)
        for member in consumers.group.consumer.members.values()  # type: ignore[union-attr]
        for numbers in member.current.assigned.values()
    )
    assert assigned > 0
