"""Topics that nobody reads any more, and why each is listed."""

from __future__ import annotations

from pathlib import Path

from group_coordinator.core.model import requests
from tests.support.group_history import GroupHistory, asked, at, tables_of
from tests.support.samples import sample

DAY_S = 86_400
STALE = "SELECT topic, why, group_count, last_commit_at, last_written_at, total_lag FROM stale_topics ORDER BY topic"


def reader(name: str, *topics: str) -> GroupHistory:
    """A group without members that commits offset 5 of each topic at time 0."""
    group = GroupHistory(name, offsets_retention_ms=30 * DAY_S * 1_000)
    group.commit({topic: {0: 5} for topic in topics})
    return group


def test_a_commit_time_that_has_not_come_yet_keeps_no_topic_alive(tmp_path: Path) -> None:
    """Version 1 of OffsetCommit has one of the client's own."""
    group = reader("group", "orders")
    commits = (requests.PartitionCommit(0, 5, None, "", 2**63 - 1),)
    topics = (requests.TopicCommit("orders", None, commits),)
    group.sleep(60_000)
    group.send(
        requests.OffsetCommit(
            group_id="group",
            generation=None,
            member_id="",
            group_instance_id=None,
            retention_time_ms=None,
            topics=topics,
        ),
        1,
    )
    root = tables_of(tmp_path, group)
    for seconds in (0, DAY_S + 120):
        sample(root, seconds, "orders", {0: 10})

    assert asked(root, STALE) == [("orders", "unused", 1, at(60), None, 5)]


def test_each_topic_is_listed_for_its_reason(tmp_path: Path) -> None:
    first = reader("first", "unread", "unused", "deleted", "never")
    second = reader("second", "unread", "lately")
    second.at(10_000)
    second.commit({"lately": {0: 6}})
    root = tables_of(tmp_path, first, second)
    for seconds, end in [(0, 10), (60, 20), (DAY_S - 300, 30), (DAY_S + 10, 30)]:
        sample(root, seconds, "unread", {0: end})
        sample(root, seconds, "lately", {0: end})
    for seconds in (0, DAY_S + 10):
        sample(root, seconds, "unused", {0: 10})
    sample(root, 0, "deleted", {0: 10})
    sample(root, 60, "deleted", {0: 20})

    assert asked(root, STALE) == [
        ("deleted", "deleted", 1, at(0), at(60), None),
        ("never", "never-sampled", 1, at(0), None, None),
        ("unread", "unread", 2, at(0), at(DAY_S - 300), 50),
        ("unused", "unused", 1, at(0), None, 5),
    ]

    sample(root, DAY_S + 11, "lately", {0: 30})
    assert asked(root, "SELECT why FROM stale_topics WHERE topic = 'lately'") == [("unread",)]


def test_what_was_written_more_than_a_day_ago_is_unused(tmp_path: Path) -> None:
    root = tables_of(tmp_path, reader("reader", "orders"))
    sample(root, 0, "orders", {0: 10})
    sample(root, 60, "orders", {0: 20})

    sample(root, 60 + DAY_S, "orders", {0: 20})
    assert asked(root, STALE) == [("orders", "unread", 1, at(0), at(60), 15)]
    sample(root, 61 + DAY_S, "orders", {0: 20})
    assert asked(root, STALE) == [("orders", "unused", 1, at(0), at(60), 15)]


def test_a_topic_with_a_member_is_read(tmp_path: Path) -> None:
    forgotten = reader("forgotten", "orders", "gone")
    group = GroupHistory("consumers", group_initial_rebalance_delay_ms=0)
    group.form(topics=("orders", "gone"))
    root = tables_of(tmp_path, forgotten, group)
    sample(root, 0, "gone", {0: 10})
    sample(root, 2 * DAY_S, "orders", {0: 10})

    assert asked(root, STALE) == [("gone", "deleted", 1, at(0), None, None)]


def test_where_nobody_samples_nothing_is_stale(tmp_path: Path) -> None:
    root = tables_of(tmp_path, reader("reader", "orders"))
    sample(root, 2 * DAY_S, "orders", {0: 10}, cluster_id="other")

    assert asked(root, STALE) == []
