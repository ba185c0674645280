"""Rebalances of groups, from stories that the state machine plays."""

from __future__ import annotations

from pathlib import Path

import pytest

from group_coordinator.core.model.requests import Topic
from tests.support.group_history import GroupHistory, asked, at, tables_of

ORDERS = Topic("orders", "AAAAAAAAAAAAAAAAAAAAAQ", 4)
BILLS = Topic("bills", "AAAAAAAAAAAAAAAAAAAAAg", 12)
DURATION = "SELECT generation_or_epoch, started_at, ended_at, seconds, how, is_superseded, cause FROM rebalances ORDER BY batch_id, seq"
EFFECT = "SELECT generation_or_epoch, cause, members_after, members_joined, members_left, partitions_moved FROM rebalances ORDER BY batch_id, seq"

PAGE = Path(__file__).parents[4] / "jobs" / "reference" / "questions.md"


def two_consumers() -> GroupHistory:
    """Two members with two partitions each, at epoch 3."""
    group = GroupHistory(group_consumer_session_timeout_ms=45_000)
    group.learn_topics(ORDERS)
    group.consumers.join("a", ["orders"])
    group.sleep(1_000)
    group.consumers.join("b", ["orders"])
    group.sleep(1_000)
    group.consumers.beat("a")
    group.sleep(1_000)
    group.consumers.beat("a", {ORDERS.topic_id: [0, 1]})
    group.sleep(1_000)
    group.consumers.beat("b", {})
    return group


def test_a_rebalance_ends_when_every_member_has_its_partitions(tmp_path: Path) -> None:
    """The second member is at the epoch at once, and waits for partitions of the first."""
    root = tables_of(tmp_path, two_consumers())

    assert asked(root, DURATION) == [
        (2, at(0), at(0), 0.0, "exact", False, "joined"),
        (3, at(1), at(4), 3.0, "exact", False, "joined"),
    ]
    assert asked(root, EFFECT) == [(2, "joined", 1, 1, 0, 4), (3, "joined", 2, 1, 0, 2)]
    counts = "SELECT members_before, members_after FROM rebalances ORDER BY batch_id, seq"
    assert asked(root, counts) == [(0, 1), (1, 2)]


def test_a_rolling_restart_moves_partitions_twice(tmp_path: Path) -> None:
    group = two_consumers()
    group.sleep(6_000)
    group.consumers.leave("a")
    group.sleep(2_000)
    group.consumers.beat("b")
    group.sleep(3_000)
    group.consumers.join("c", ["orders"])
    group.sleep(1_000)
    group.consumers.beat("b")
    group.consumers.beat("b", {})
    group.sleep(1_000)
    group.consumers.beat("c", {})
    root = tables_of(tmp_path, group)

    assert asked(root, DURATION)[2:] == [
        (4, at(10), at(12), 2.0, "exact", False, "left"),
        (5, at(15), at(17), 2.0, "exact", False, "joined"),
    ]
    assert asked(root, EFFECT)[2:] == [(4, "left", 1, 0, 1, 2), (5, "joined", 2, 1, 0, 2)]


def test_the_last_member_times_out(tmp_path: Path) -> None:
    """Without members the epoch is reached at once."""
    group = two_consumers()
    group.consumers.leave("a")
    group.consumers.beat("b")
    group.sleep(60_000)
    root = tables_of(tmp_path, group)

    assert asked(root, DURATION)[3:] == [
        (5, at(49), at(49), 0.0, "exact", False, "timed-out"),
    ]
    assert asked(root, EFFECT)[3:] == [(5, "timed-out", 0, 0, 1, 0)]


def test_a_topic_gets_partitions(tmp_path: Path) -> None:
    group = two_consumers()
    group.learn_topics(Topic(ORDERS.name, ORDERS.topic_id, 6))
    group.sleep(1_000)
    group.consumers.beat("a")
    group.sleep(1_000)
    group.consumers.beat("b")
    root = tables_of(tmp_path, group)

    assert asked(root, DURATION)[2:] == [(4, at(5), at(6), 1.0, "exact", False, "topics")]
    assert asked(root, EFFECT)[2:] == [(4, "topics", 2, 0, 0, 2)]


def test_a_member_subscribes_to_a_second_topic(tmp_path: Path) -> None:
    """Partitions of equal numbers are those of their topics."""
    group = GroupHistory()
    group.learn_topics(ORDERS, BILLS)
    group.consumers.join("a", ["orders"])
    group.sleep(1_000)
    group.consumers.beat("a", topic_names=("bills", "orders"))

    assert asked(tables_of(tmp_path, group), EFFECT) == [
        (2, "joined", 1, 1, 0, 4),
        (3, "subscription", 1, 0, 0, 12),
    ]


def test_the_next_epoch_begins_before_the_last_one_ended(tmp_path: Path) -> None:
    group = two_consumers()
    group.sleep(6_000)
    group.consumers.join("c", ["orders"])
    group.sleep(5_000)
    group.consumers.leave("c")
    group.sleep(2_000)
    group.consumers.beat("a")

    assert asked(tables_of(tmp_path, group), DURATION)[2:] == [
        (4, at(10), at(15), 5.0, "exact", True, "joined"),
        (5, at(15), None, None, "exact", False, "left"),
    ]


def test_a_static_member_that_is_replaced_makes_no_rebalance(tmp_path: Path) -> None:
    """Its successor has its partitions: only the next epoch counts it."""
    group = GroupHistory()
    group.learn_topics(ORDERS)
    group.consumers.join("a", ["orders"], instance_id="i-1")
    group.consumers.leave("a", for_a_while=True)
    group.sleep(1_000)
    group.consumers.join("b", ["orders"], instance_id="i-1")
    group.learn_topics(Topic(ORDERS.name, ORDERS.topic_id, 5))
    group.sleep(1_000)
    group.consumers.beat("b", {ORDERS.topic_id: [0, 1, 2, 3]})

    assert asked(tables_of(tmp_path, group), EFFECT) == [
        (2, "joined", 1, 1, 0, 4),
        (3, "topics", 1, 1, 1, 1),
    ]


def test_two_generations_of_a_classic_group(tmp_path: Path) -> None:
    """The log has only the ends: the group's record has the time at which the join phase was over."""
    group = GroupHistory(group_initial_rebalance_delay_ms=0)
    [first] = group.form()
    second = group.join().response.member_id
    group.sleep(2_000)
    group.join(second)
    group.sleep(3_000)
    group.join(first)
    group.sleep(1_000)
    group.sync(first, 2)
    group.sleep(1_000)
    group.leave(first, second)
    root = tables_of(tmp_path, group)

    assert asked(root, DURATION) == [
        (1, at(0), at(0), 0.0, "at-least", False, "joined"),
        (2, at(5), at(6), 1.0, "at-least", False, "joined"),
        (3, at(7), at(7), 0.0, "at-least", False, "left"),
    ]
    assert asked(root, EFFECT) == [
        (1, "joined", 1, 1, 0, None),
        (2, "joined", 2, 1, 0, None),
        (3, "left", 0, 0, 2, None),
    ]
    assert asked(root, "SELECT inferred FROM rebalances ORDER BY batch_id") == [
        (True,),
        (True,),
        (False,),
    ]


def test_a_conversion_is_no_rebalance_and_keeps_the_members(tmp_path: Path) -> None:
    group = GroupHistory()
    group.learn_topics(ORDERS)
    old = group.form(2)
    group.sleep(1_000)
    group.consumers.join("new", ["orders"])
    group.sleep(1_000)
    group.leave(old[0])
    group.sleep(1_000)
    group.consumers.leave("new")
    group.join(old[1])
    group.sync(old[1], 4)

    assert asked(
        tables_of(tmp_path, group),
        "SELECT group_type, generation_or_epoch, cause, members_after, members_joined, members_left FROM rebalances ORDER BY batch_id, seq",
    ) == [
        ("classic", 1, "joined", 2, 2, 0),
        ("consumer", 2, "joined", 3, 1, 0),
        ("consumer", 3, "left", 2, 0, 1),
        ("classic", 4, "left", 1, 0, 1),
    ]


def test_a_log_that_begins_later_than_its_group(tmp_path: Path) -> None:
    """Of the first row it has no epoch before; a member that was silent is known by its next assignment."""
    group = two_consumers()
    group.rows.clear()
    group.sleep(6_000)
    group.consumers.join("c", ["orders"])
    group.consumers.beat("a", {ORDERS.topic_id: [0, 1]})
    group.consumers.beat("b", {ORDERS.topic_id: [2]})
    group.consumers.beat("c", {})
    group.sleep(6_000)
    group.consumers.leave("c")
    group.sleep(1_000)
    group.consumers.beat("a", {ORDERS.topic_id: [0, 1]})
    group.sleep(1_000)
    group.consumers.beat("b", {ORDERS.topic_id: [2]})
    root = tables_of(tmp_path, group)

    assert asked(root, EFFECT) == [
        (4, "joined", None, None, None, None),
        (5, "left", 2, 0, 1, 1),
    ]
    assert asked(root, DURATION)[1] == (5, at(16), at(18), 2.0, "exact", False, "left")


def test_a_static_member_is_replaced_where_the_log_begins(tmp_path: Path) -> None:
    """The record has the time of a join phase that was over long before."""
    group = GroupHistory(group_initial_rebalance_delay_ms=0)
    about = {"instance_id": "i-1", "session_timeout_ms": 600_000}
    group.sync(group.join(**about).response.member_id, 1)
    group.sleep(300_000)
    group.rows.clear()
    first = group.join(**about).response.member_id
    second = group.join().response.member_id
    group.join(second)
    group.join(first, **about)
    group.sync(first, 2)

    assert asked(
        tables_of(tmp_path, group),
        "SELECT generation_or_epoch, seconds, cause, members_before, members_after FROM rebalances",
    ) == [(2, 0.0, "joined", 1, 2)]


@pytest.mark.parametrize("client_id", ["plain", 'say "hi', "[", '{"memberId":"', "\\"])
def test_member_ids_that_look_like_json(client_id: str, tmp_path: Path) -> None:
    group = GroupHistory(group_initial_rebalance_delay_ms=0)
    group.client_id = client_id
    [first] = group.form()
    second = group.join().response.member_id
    group.join(second)
    group.join(first)
    group.sync(first, 2)

    assert asked(tables_of(tmp_path, group), EFFECT) == [
        (1, "joined", 1, 1, 0, None),
        (2, "joined", 2, 1, 0, None),
    ]


def test_the_queries_by_hour_of_the_page_find_a_member_that_flaps(tmp_path: Path) -> None:
    group = GroupHistory("flapping", group_consumer_session_timeout_ms=45_000)
    group.learn_topics(ORDERS)
    for _ in range(3):
        group.consumers.join("a", ["orders"])
        group.sleep(60_000)
    root = tables_of(tmp_path, two_consumers(), group)

    section = PAGE.read_text(encoding="utf-8").partition("## Rebalances by hour")[2]
    by_hour, flapping = (block.partition("```")[0] for block in section.split("```sql")[1:3])

    assert asked(root, by_hour) == [
        ("test", "flapping", at(0), 6, 0.0),
        ("test", "g", at(0), 2, 3.0),
    ]
    assert asked(root, flapping) == [("test", "flapping", "a", at(0), 6)]
