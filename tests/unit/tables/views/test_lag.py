"""How far groups are behind, in records and in time, told by the state machine and by samples."""

from __future__ import annotations

from pathlib import Path

import pytest

from group_coordinator.core.model.requests import Topic
from tests.support.group_history import GroupHistory, asked, at, tables_of
from tests.support.samples import sample
from tests.support.view_rows import answers

ORDERS = Topic("orders", "AAAAAAAAAAAAAAAAAAAAAQ", 3)
LOWEST, HIGHEST = -(2**63), 2**63 - 1
LAG = (
    "SELECT group_id, topic, `partition`, committed_offset, log_end_offset, lag, lag_from_start, member_id "
    "FROM lag ORDER BY group_id, topic, `partition`"
)
TIME_LAG = "SELECT `partition`, lag_seconds, how FROM time_lag ORDER BY topic, `partition`"
HISTORY = (
    "SELECT sampled_at, committed_offset, log_end_offset, lag, lag_seconds, how "
    "FROM lag_history ORDER BY sampled_at"
)


def reader(*commits: tuple[float, dict[int, int]]) -> GroupHistory:
    """A group without members, with its commits: (second, offsets of orders by partition)."""
    group = GroupHistory("reader")
    for seconds, offsets in commits:
        group.at(round(seconds * 1_000))
        group.commit({"orders": offsets})
    return group


def test_every_partition_that_a_group_could_read_has_a_row(tmp_path: Path) -> None:
    consumers = GroupHistory("consumers")
    consumers.learn_topics(ORDERS)
    consumers.consumers.join("a", ["orders"])
    consumers.consumers.beat("a", {ORDERS.topic_id: [0, 1]})
    consumers.commit({"orders": {0: 7}}, "a", consumers.consumers.epochs["a"], version=9)
    subscribed = GroupHistory("subscribed", group_initial_rebalance_delay_ms=0)
    subscribed.form(topics=("refunds",))
    root = tables_of(tmp_path, consumers, subscribed)
    sample(root, 1, "orders", {0: 10, 1: 20, 2: 30}, start=4)
    sample(root, 1, "refunds", {0: 5})
    sample(root, 1, "bills", {0: 5})

    assert asked(root, LAG) == [
        ("consumers", "orders", 0, 7, 10, 3, 3, "a"),
        ("consumers", "orders", 1, None, 20, None, 16, "a"),
        ("consumers", "orders", 2, None, 30, None, 26, "a"),
        ("subscribed", "refunds", 0, None, 5, None, 5, None),
    ]
    assert asked(root, "SELECT DISTINCT client_id, client_host FROM lag WHERE member_id = 'a'") == [
        ("client", "/127.0.0.1")
    ]


def test_a_sum_of_more_than_64_bits_is_the_nearest_number(tmp_path: Path) -> None:
    root = tables_of(tmp_path, reader((0, {0: 5, 1: 0})))
    sample(root, 90_000, "orders", {0: HIGHEST, 1: HIGHEST})

    assert asked(root, "SELECT total_lag, max_lag FROM group_status") == [(HIGHEST, HIGHEST)]
    assert asked(root, "SELECT total_lag FROM stale_topics") == [(HIGHEST,)]


def test_a_commit_that_is_newer_than_the_sample_is_no_negative_lag(tmp_path: Path) -> None:
    root = tables_of(tmp_path, reader((0, {0: 12, 1: 10, 2: 9})))
    sample(root, 1, "orders", {0: 10, 1: 10, 2: 10})

    assert asked(root, "SELECT `partition`, lag FROM lag ORDER BY `partition`") == [
        (0, 0),
        (1, 0),
        (2, 1),
    ]
    assert asked(root, TIME_LAG) == [(0, 0.0, "exact"), (1, 0.0, "exact"), (2, 0.0, "at-least")]


def test_a_number_below_0_is_as_nothing_committed(tmp_path: Path) -> None:
    """kafkajs resets to -1 and -2."""
    root = tables_of(tmp_path, reader((0, {0: -1, 1: -2, 2: LOWEST})))
    for seconds in (60, 7_200):
        sample(root, seconds, "orders", dict.fromkeys(range(3), 9_000_010), start=9_000_000)

    columns = "committed_offset, lag, lag_from_start, lag_to_stable, lost, ahead"
    nothing = (None, None, 10, None, None, None)
    assert asked(root, f"SELECT {columns} FROM lag") == [nothing] * 3  # noqa: S608 - our own names
    assert asked(root, TIME_LAG) == [(partition, None, None) for partition in range(3)]
    assert asked(root, HISTORY) == []
    assert asked(root, "SELECT status, total_lag, unknown_partitions FROM group_status") == [
        (None, None, 0)
    ]
    columns = "status, committed_offset, commits"
    assert asked(root, f"SELECT {columns} FROM partition_status") == [(None, None, 0)] * 3  # noqa: S608 - our own names
    assert asked(root, "SELECT group_id FROM topic_groups") == []
    assert asked(root, "SELECT group_id FROM expiring_soon") == []


def test_a_log_that_ends_before_the_committed_offset_is_no_lag(tmp_path: Path) -> None:
    """As of a topic that was made again: Kafka's tool prints -845."""
    root = tables_of(tmp_path, reader((0, {0: 899, 1: 40, 2: HIGHEST})))
    for seconds in (60, 7_200):
        sample(root, seconds, "orders", dict.fromkeys(range(3), 54))

    columns = "`partition`, lag, lag_from_start, lag_to_stable, ahead"
    assert asked(root, f"SELECT {columns} FROM lag ORDER BY `partition`") == [  # noqa: S608 - our own names
        (0, None, 54, None, 845),
        (1, 14, 14, 14, None),
        (2, None, 54, None, HIGHEST - 54),
    ]
    assert asked(root, TIME_LAG) == [
        (0, None, "ahead"),
        (1, 7_140.0, "at-least"),
        (2, None, "ahead"),
    ]
    assert asked(root, "SELECT status FROM partition_status ORDER BY `partition`") == [
        *[("AHEAD",), ("STOP",), ("AHEAD",)]
    ]
    assert asked(root, "SELECT total_lag, max_lag, unknown_partitions FROM group_status") == [
        (14, 14, 0)
    ]
    assert asked(
        root,
        "SELECT DISTINCT lag, lag_seconds, how FROM lag_history WHERE `partition` = 0",
    ) == [(None, None, "ahead")]


def test_only_a_sample_that_is_later_for_certain_shows_that_the_log_ends_before(
    tmp_path: Path,
) -> None:
    root = tables_of(tmp_path, reader((0, {0: 60})))
    sample(root, 10, "orders", {0: 54})
    assert asked(root, "SELECT lag, ahead, how FROM lag JOIN time_lag USING (topic)") == [
        (0, None, "exact")
    ]
    assert asked(root, "SELECT status FROM group_status") == [("OK",)]

    sample(root, 10.001, "orders", {0: 54})
    assert asked(root, "SELECT lag, ahead, how FROM lag JOIN time_lag USING (topic)") == [
        (None, 6, "ahead")
    ]
    assert asked(root, "SELECT status FROM group_status") == [("AHEAD",)]
    assert asked(root, HISTORY) == [
        (at(10), 60, 54, 0, 0.0, "exact"),
        (at(10.001), 60, 54, None, None, "ahead"),
    ]


def test_in_an_empty_log_there_is_nothing_to_read(tmp_path: Path) -> None:
    root = tables_of(tmp_path, reader((0, {0: 426})))
    sample(root, 0, "orders", {0: 500}, start=400)
    for hours in (1, 30, 61):
        sample(root, hours * 3_600, "orders", {0: 500}, start=500)

    assert asked(root, "SELECT lag, lag_from_start, lost FROM lag") == [(0, 0, 74)]
    assert asked(root, TIME_LAG) == [(0, 0.0, "exact")]
    assert asked(root, "SELECT silent_seconds FROM partition_status") == [(0.0,)]
    assert asked(root, HISTORY) == [
        (at(0), 426, 500, 74, 0.0, "at-least"),
        (at(3_600), 426, 500, 0, 0.0, "exact"),
        (at(30 * 3_600), 426, 500, 0, 0.0, "exact"),
        (at(61 * 3_600), 426, 500, 0, 0.0, "exact"),
    ]


def test_records_that_were_removed_unread_are_lost_and_no_lag(tmp_path: Path) -> None:
    root = tables_of(tmp_path, reader((0, {0: 426, 1: 460})))
    sample(root, 60, "orders", {0: 500, 1: 500}, start=450, held_back=10)

    columns = "lag, lag_from_start, lag_to_stable, lost"
    assert asked(root, f"SELECT {columns} FROM lag ORDER BY `partition`") == [  # noqa: S608 - our own names
        (50, 50, 40, 24),
        (40, 40, 30, 0),
    ]
    assert asked(root, "SELECT total_lag, max_lag FROM group_status") == [(90, 50)]


def test_after_a_loss_time_lag_is_that_of_the_logs_first_record(tmp_path: Path) -> None:
    root = tables_of(tmp_path, reader((0, {0: 10})))
    for seconds, start, end in [(10, 0, 20), (20, 0, 40), (30, 30, 60), (40, 30, 60)]:
        sample(root, seconds, "orders", {0: end}, start=start)

    # The log's end was at 30 in the middle between the seconds 10 and 20.
    assert asked(root, TIME_LAG) == [(0, 25.0, "interpolated")]
    assert asked(root, "SELECT certain_seconds FROM time_lag") == [(20.0,)]
    assert asked(
        root, "SELECT sampled_at, lag, lag_seconds, how, lost FROM lag_history ORDER BY 1"
    ) == [
        (at(10), 10, 0.0, "at-least", 0),
        (at(20), 30, 10.0, "at-least", 0),
        (at(30), 30, 15.0, "interpolated", 20),
        (at(40), 30, 25.0, "interpolated", 20),
    ]


def test_tables_without_share_groups_have_the_same_seconds(tmp_path: Path) -> None:
    """Version 0.3 had no such table, and other units in its place would be a thousand times as large."""
    root = tables_of(tmp_path, reader((0, {0: 10})))
    for seconds, end in [(10, 10), (20, 40), (30, 40)]:
        sample(root, seconds, "orders", {0: end})
    for file in (root / "share_group_offsets").rglob("*.json"):
        file.unlink()

    assert asked(root, "SELECT lag_seconds FROM lag_history ORDER BY sampled_at") == [
        (0.0,),
        (10.0,),
        (20.0,),
    ]


def test_a_topic_that_no_member_subscribes_to_is_told_apart(tmp_path: Path) -> None:
    """The group has left orders; who only stores offsets subscribes to nothing."""
    group = GroupHistory("consumers", group_initial_rebalance_delay_ms=0)
    [member] = group.form(topics=("orders", "refunds"))
    generation = group.group.membership.generation  # type: ignore[union-attr]
    group.commit({"orders": {0: 5}, "refunds": {0: 5}}, member, generation)
    group.leave(member)
    group.form(topics=("refunds",))
    root = tables_of(tmp_path, group, reader((0, {0: 5})))
    for seconds in (60, 7_200):
        sample(root, seconds, "orders", {0: 20})
        sample(root, seconds, "refunds", {0: 5})

    assert asked(root, "SELECT group_id, topic, lag, is_subscribed FROM lag ORDER BY 1, 2") == [
        ("consumers", "orders", 15, False),
        ("consumers", "refunds", 0, True),
        ("reader", "orders", 15, None),
    ]
    assert asked(root, "SELECT group_id, topic, status FROM partition_status ORDER BY 1, 2") == [
        ("consumers", "orders", "UNSUBSCRIBED"),
        ("consumers", "refunds", "OK"),
        ("reader", "orders", "STOP"),
    ]
    assert asked(root, "SELECT group_id, status FROM group_status ORDER BY 1") == [
        ("consumers", "OK"),
        ("reader", "STOP"),
    ]


def test_without_a_sample_nothing_is_said_of_lag(tmp_path: Path) -> None:
    root = tables_of(tmp_path, reader((0, {0: 12})))

    assert asked(root, LAG) == [("reader", "orders", 0, 12, None, None, None, None)]
    assert asked(root, TIME_LAG) == [(0, None, None)]
    assert asked(root, HISTORY) == []


def test_a_topic_that_is_sampled_no_more_has_no_lag(tmp_path: Path) -> None:
    root = tables_of(tmp_path, reader((0, {0: 12})))
    sample(root, 10, "orders", {0: 100})
    sample(root, 310, "bills", {0: 5})
    assert asked(root, "SELECT lag FROM lag") == [(88,)]

    sample(root, 311, "bills", {0: 5})
    assert asked(root, LAG) == [("reader", "orders", 0, 12, None, None, None, None)]
    assert asked(root, TIME_LAG) == [(0, None, None)]


def test_what_a_transaction_holds_back_is_told_apart(tmp_path: Path) -> None:
    root = tables_of(tmp_path, reader((0, {0: 12, 1: 19})))
    sample(root, 10, "orders", {0: 20, 1: 20}, held_back=5)

    assert asked(
        root, "SELECT `partition`, lag, lag_to_stable, held_back FROM lag ORDER BY `partition`"
    ) == [(0, 8, 3, 5), (1, 1, 0, 5)]


def test_clusters_are_kept_apart(tmp_path: Path) -> None:
    here, there = reader((0, {0: 1})), GroupHistory("reader", cluster_id="other")
    there.commit({"orders": {0: 1}})
    root = tables_of(tmp_path, here, there)
    sample(root, 1, "orders", {0: 10})
    sample(root, 1_000, "orders", {0: 20}, cluster_id="other")

    assert asked(root, "SELECT cluster_id, lag FROM lag ORDER BY 1") == [("other", 19), ("test", 9)]


def test_time_lag_begins_when_the_log_went_on(tmp_path: Path) -> None:
    root = tables_of(tmp_path, reader((0, {0: 100, 1: 120, 2: 99, 3: 160})))
    for seconds, end in [(10, 100), (20, 100), (40, 160), (60, 160)]:
        sample(root, seconds, "orders", dict.fromkeys(range(4), end))

    assert asked(root, "SELECT certain_seconds FROM time_lag ORDER BY `partition`") == [
        *[(20.0,), (20.0,), (50.0,), (0.0,)]
    ]
    assert asked(root, TIME_LAG) == [
        (0, 40.0, "exact"),  # 100 was the end until second 20
        (1, pytest.approx(60 - (20 + 20 * 20 / 60)), "interpolated"),
        (2, 50.0, "at-least"),
        (3, 0.0, "exact"),
    ]


def test_time_lag_knows_a_topic_that_was_made_again(tmp_path: Path) -> None:
    root = tables_of(tmp_path, reader((0, {0: 10, 1: 0, 2: 30})))
    for seconds, end in [(10, 5), (20, 1_000), (30, 10), (40, 20), (50, 2_000)]:
        sample(root, seconds, "orders", dict.fromkeys(range(3), end))

    assert asked(root, TIME_LAG) == [
        (0, 20.0, "exact"),
        (1, 20.0, "at-least"),
        (2, pytest.approx(10 - 10 * 10 / 1_980), "interpolated"),
    ]


def test_a_log_whose_beginning_goes_back_is_another_one(tmp_path: Path) -> None:
    root = tables_of(tmp_path, reader((0, {0: 10})))
    sample(root, 10, "orders", {0: 10}, start=5)
    sample(root, 20, "orders", {0: 50}, start=0)
    sample(root, 30, "orders", {0: 60}, start=0)

    assert asked(root, TIME_LAG) == [(0, 10.0, "at-least")]


def test_two_samplers_of_one_moment_are_no_log_that_went_back(tmp_path: Path) -> None:
    """The second one has asked a moment before the first, and says that it was later."""
    root = tables_of(tmp_path, reader((0, {0: 100, 1: 120, 2: 130, 3: 160})))
    for seconds, end in [(10, 70), (20, 130), (20.9, 110), (40, 160), (40.999, 150)]:
        sample(root, seconds, "orders", dict.fromkeys(range(4), end))

    assert asked(root, "SELECT `partition`, lag FROM lag ORDER BY `partition`") == [
        *[(0, 60), (1, 40), (2, 30), (3, 0)]
    ]
    assert asked(root, TIME_LAG) == [
        (0, pytest.approx(40.999 - 15), "interpolated"),
        (1, pytest.approx(40.999 - 10 - 10 * 50 / 60), "interpolated"),
        (2, pytest.approx(40.999 - 20.9), "exact"),
        (3, 0.0, "exact"),
    ]
    assert asked(
        root,
        "SELECT sampled_at, log_end_offset, lag FROM lag_history WHERE `partition` = 2 ORDER BY 1",
    ) == [
        (at(10), 70, 0),
        (at(20), 130, 0),
        (at(20.9), 130, 0),
        (at(40), 160, 30),
        (at(40.999), 160, 30),
    ]


def test_a_log_that_went_back_begins_with_the_first_sample_that_is_a_moment_later(
    tmp_path: Path,
) -> None:
    root = tables_of(tmp_path, reader((0, {0: 5})))
    for seconds, end in [(10, 1_000), (20, 1_000), (20.999, 10), (21, 20), (30, 40)]:
        sample(root, seconds, "orders", {0: end})

    assert asked(root, TIME_LAG) == [(0, 9.0, "at-least")]
    assert asked(root, "SELECT lag FROM lag") == [(35,)]


def test_the_history_of_lag(tmp_path: Path) -> None:
    group = reader((5, {0: 100}), (25, {0: 130}), (30, {0: 160}))
    group.at(45_000)
    group.delete_offsets({"orders": [0]})
    group.at(55_000)
    group.commit({"orders": {0: 0}})
    root = tables_of(tmp_path, group)
    for seconds, end in [(1, 90), (10, 100), (20, 120), (30, 160), (40, 200), (50, 200), (60, 200)]:
        sample(root, seconds, "orders", {0: end})

    assert asked(root, HISTORY) == [
        (at(10), 100, 100, 0, 0.0, "exact"),
        (at(20), 100, 120, 20, 10.0, "exact"),
        (at(30), 160, 160, 0, 0.0, "exact"),
        (at(40), 160, 200, 40, 10.0, "exact"),
        (at(60), 0, 200, 200, 59.0, "at-least"),
    ]


def test_an_offset_of_an_open_transaction_is_no_history_yet(tmp_path: Path) -> None:
    group = reader((5, {0: 100}))
    group.at(15_000)
    group.commit_in_transaction(17, "orders", 0, 120)
    group.at(25_000)
    group.end_transaction(17, is_commit=True)
    root = tables_of(tmp_path, group)
    for seconds in (10, 20, 30):
        sample(root, seconds, "orders", {0: 120})

    assert asked(root, "SELECT sampled_at, lag FROM lag_history ORDER BY 1") == [
        (at(10), 20),
        (at(20), 20),
        (at(30), 0),
    ]


def test_a_commit_of_the_oldest_kind_has_a_history() -> None:
    partition = {"cluster_id": "eu-1", "topic": "orders", "partition": 0}
    own = partition | {"group_id": "long-ago"}
    ends = {"log_start_offset": 0, "log_end_offset": 10, "last_stable_offset": 10, "sampled_at": 20}

    [history] = answers(
        {
            "coordinator_log": [own | {"record_type": 0}],
            "offset_changes": [own | {"after": 7, "at": 10, "batch_id": 0, "seq": 0}],
            "topic_positions": [partition | ends],
        },
        "lag_history",
    )

    assert [(row["group_id"], row["committed_offset"], row["lag"]) for row in history] == [
        ("long-ago", 7, 3)
    ]
