"""Whether groups keep up: one story a status, and the false alarms that there must not be."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from group_coordinator.clients.sql_tables import rows
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.position import Position
from group_coordinator.tables.samples import TOPIC_POSITIONS, position_rows
from tests.support.group_history import GroupHistory, asked, at, tables_of
from tests.support.samples import sample

Commits = list[tuple[float, int]]
"""(second, offset)"""


def steady(
    commits: int, *, every_s: float = 5, offset: int = 100, step: int = 10, start_s: float = 0
) -> Commits:
    return [(start_s + number * every_s, offset + number * step) for number in range(commits)]


class Story(NamedTuple):
    """A group that has committed one partition, and the partition's ends: second, end, and last stable offset if it is another."""

    commits: Commits
    ends: list[tuple[float, *tuple[int, ...]]]
    status: str


AHEAD: list[tuple[float, *tuple[int, ...]]] = [
    (number * 30, 1_000 + 300 * number) for number in range(40)
]
"""A log that grows by 10 offsets a second, and that no reader keeps up with."""
SAME = steady(10, step=0, start_s=30)
NOT_FULL = [(seconds * 6.6667, offset) for seconds, offset in [(0, 100), (10, 110), (20, 120)]]
"""Nine times 66.667 seconds would be 600."""
BACK = [*steady(5), (30, 110)]
OFTEN: list[tuple[float, *tuple[int, ...]]] = [
    (3.0 * number, 1_000 + 30 * number) for number in range(20)
]
AT_REST: list[tuple[float, *tuple[int, ...]]] = [(30.0 * number, 54) for number in range(7)]


def reading(behind: float) -> Commits:
    """Commits a little more than a second apart, so that each leaves a little more of the ten records of a second."""
    return [(40 + 1.001 * number, round(1_400 - behind + 10 * number)) for number in range(10)]


STORIES = {
    "all is read": Story(steady(10), [(0, 190), (30, 190), (100_000, 190)], "OK"),
    "idle, then something to read": Story(
        steady(10), [(50, 190), (7_200, 190), (7_230, 250)], "OK"
    ),
    "silent for as long as ten commits take": Story(steady(10), [(0, 1_000), (105, 1_000)], "OK"),
    "silent for longer": Story(steady(10), [(0, 1_000), (106, 1_000)], "STOP"),
    "three commits count as ten": Story(NOT_FULL, [(0, 1_000), (733, 1_000)], "OK"),
    "silent after three commits": Story(NOT_FULL, [(0, 1_000), (734, 1_000)], "STOP"),
    "a commit lasts ten minutes": Story([(0, 100)], [(0, 1_000), (600, 1_000)], "OK"),
    "a commit lasts no longer": Story([(0, 100)], [(0, 1_000), (601, 1_000)], "STOP"),
    # Of so long ago only the last commit is looked at.
    "silent since yesterday": Story(steady(10), [(0, 1_000), (100_000, 1_000)], "STOP"),
    "back": Story(BACK, [(0, 1_000), (40, 1_000)], "REWIND"),
    "back and up again": Story([*BACK, (35, 140)], [(0, 1_000), (40, 1_000)], "OK"),
    "the same offset behind": Story(SAME, [(0, 90), (20, 1_000), (80, 1_000)], "STALL"),
    "the same since the first commit": Story(SAME, [(0, 90), (30, 1_000), (80, 1_000)], "STALL"),
    "the same, something to read since": Story(SAME, [(0, 90), (31, 100), (80, 1_000)], "OK"),
    "the same nine times": Story(SAME[:9], [(0, 90), (20, 1_000), (80, 1_000)], "OK"),
    "silent, samples far apart": Story([(0, 100)], [(0, 100), (3_600, 101)], "OK"),
    "the same, samples far apart": Story(steady(10, step=0), [(0, 100), (50, 101)], "OK"),
    "slower than the log": Story(steady(10, step=49, start_s=1_100), AHEAD, "WARN"),
    "as fast as the log": Story(steady(10, step=50, start_s=1_100), AHEAD, "WARN"),
    "faster than the log": Story(steady(10, step=51, start_s=1_100), AHEAD, "OK"),
    "slow after all was read": Story(
        steady(10, offset=12_000, step=49, start_s=1_100), AHEAD, "OK"
    ),
    "slow, samples since the second commit only": Story(
        steady(10, step=49, start_s=1_100), [row for row in AHEAD if row[0] >= 1_110], "OK"
    ),
    "behind by what is written between two commits": Story(reading(9.5), OFTEN, "OK"),
    "behind by more": Story(reading(12.5), OFTEN, "WARN"),
    # Again and again, so that no sample is ten seconds later than the newest commit.
    "ahead": Story([(5.0 * number, 899) for number in range(40)], AT_REST, "AHEAD"),
    # The group reads a log that grows: it commits what the sample has not seen yet.
    "ahead of the sample only": Story(
        [(5.0 * number, 54 + 30 * (number - 35)) for number in range(40)], AT_REST, "OK"
    ),
    "ahead since a moment ago": Story(
        [(5.0 * number, 54 if number < 37 else 899) for number in range(40)], AT_REST, "OK"
    ),
    # The group has read all that a read_committed consumer can.
    "held": Story(steady(10), [(60, 1_653, 190), (7_200, 1_653, 190)], "HELD"),
    "held all the time": Story(
        steady(10, offset=190, step=0), [(0, 1_653, 190), (50, 1_653, 190)], "HELD"
    ),
    "one more to read": Story(steady(10), [(60, 1_653, 191), (7_200, 1_653, 191)], "STOP"),
    "reads what is not committed": Story(
        steady(10), [(60, 1_653, 189), (7_200, 1_653, 189)], "STOP"
    ),
    # The transaction has just ended: its silence begins then.
    "held until a minute ago": Story(
        steady(10), [(60, 1_653, 190), (7_200, 1_653, 190), (7_260, 1_654)], "OK"
    ),
    "held until earlier": Story(
        steady(10), [(60, 1_653, 190), (7_200, 1_653, 190), (7_261, 1_654)], "STOP"
    ),
}
AT_A_MARKER = {
    # The transaction that is open at second 40 ends: what is left is its marker, whether more was written meanwhile or not.
    "marker": Story(steady(10), [(40, 190, 180), (70, 191), (7_200, 191)], "OK"),
    "marker after more": Story(steady(10), [(40, 150, 100), (70, 191), (7_200, 191)], "OK"),
    # A record more is left; another transaction is open; none was open when the log last grew.
    "marker and a record": Story(steady(10), [(40, 190, 180), (70, 192), (7_200, 192)], "STOP"),
    "next transaction": Story(
        steady(10), [(40, 189, 180), (70, 191, 189), (7_200, 191, 189)], "STOP"
    ),
    "record after the marker": Story(
        steady(10), [(40, 189, 180), (50, 190), (70, 191), (7_200, 191)], "STOP"
    ),
    "no transaction": Story(steady(10), [(70, 191), (7_200, 191)], "STOP"),
}
"""As of clients that commit the offset behind the last record, however long the topic rests: Kafka's tool says 1."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cluster for each story."""
    stories = STORIES | AT_A_MARKER
    histories = [GroupHistory("reader", cluster_id=name) for name in stories]
    for group in histories:
        for seconds, offset in stories[group.cluster_id].commits:
            group.at(round(seconds * 1_000))
            group.commit({"orders": {0: offset}})
    root = tables_of(tmp_path_factory.mktemp("status"), *histories)
    samples = [
        position_rows(name, [Position("orders", 0, 0, min(ends), max(ends))], round(at_s * 1_000))
        for name, story in stories.items()
        for at_s, *ends in story.ends
    ]
    write_deltalake(root / TOPIC_POSITIONS.name, pa.concat_tables(samples), mode="append")
    return root


@pytest.mark.parametrize("view", ["group_status", "partition_status"])
def test_a_status_for_each_story(view: str, root: Path) -> None:
    found = dict(asked(root, f"SELECT cluster_id, status FROM {view}"))  # noqa: S608 - our own names

    assert found == {name: story.status for name, story in (STORIES | AT_A_MARKER).items()}


@pytest.mark.parametrize(
    "rows", ["time_lag", "lag_history WHERE sampled_at > TIMESTAMP '1970-01-01T01:00:00Z'"]
)
def test_who_has_read_all_but_the_marker_of_a_transaction_is_not_late(
    rows: str, root: Path
) -> None:
    is_late = {
        name: seconds > 0
        for name, seconds in asked(root, f"SELECT cluster_id, lag_seconds FROM {rows}")  # noqa: S608 - our own names
        if name in AT_A_MARKER
    }

    assert is_late == {name: story.status == "STOP" for name, story in AT_A_MARKER.items()}


def test_time_lag_and_its_history_are_known_in_the_same_way(root: Path) -> None:
    different = (
        "SELECT cluster_id FROM time_lag JOIN lag_history USING (cluster_id, group_id, topic, `partition`) "
        "WHERE sampled_at > TIMESTAMP '1970-01-01T01:00:00Z' AND time_lag.how != lag_history.how"
    )

    assert {name for (name,) in asked(root, different)}.isdisjoint(AT_A_MARKER)


def test_the_order_of_the_log_counts_not_that_of_its_times(tmp_path: Path) -> None:
    """A mirror's times are those of brokers, whose clocks differ."""
    group = GroupHistory("reader")
    for seconds, offset in [*steady(10, start_s=600), (650, 115)]:
        group.at(seconds * 1_000)
        group.commit({"orders": {0: offset}})
    root = tables_of(tmp_path, group)
    log = DeltaTable(root / COORDINATOR_LOG.name)
    log.update({"event_time": "to_timestamp_micros(30000000)"}, predicate="`offset` = 115")
    sample(root, 0, "orders", {0: 1_000})
    sample(root, 660, "orders", {0: 1_000})

    assert asked(root, "SELECT status, commits FROM partition_status") == [("REWIND", 10)]


def test_a_loss_is_reported_of_a_group_that_a_transaction_holds_back_too(tmp_path: Path) -> None:
    group = GroupHistory("reader")
    group.commit({"orders": {0: 426}})
    root = tables_of(tmp_path, group)
    sample(root, 60, "orders", {0: 510}, start=500, held_back=10)
    sample(root, 7_200, "orders", {0: 510}, start=500, held_back=10)

    found = "SELECT status, lag, silent_seconds FROM partition_status"
    assert asked(root, found) == [("LOSS", 10, 0.0)]


def test_a_loss_lasts_until_the_group_has_passed_the_logs_start(tmp_path: Path) -> None:
    stopped, passed = GroupHistory("stopped"), GroupHistory("passed")
    for group in (stopped, passed):
        group.commit({"orders": {0: 99, 1: 100}})
    passed.at(7_190_000)
    passed.commit({"orders": {0: 100, 1: 100}})
    root = tables_of(tmp_path, stopped, passed)
    sample(root, 60, "orders", {0: 1_000, 1: 1_000})
    sample(root, 7_200, "orders", {0: 1_000, 1: 1_000}, start=100)

    found = "SELECT group_id, status, silent_seconds FROM partition_status ORDER BY 1, `partition`"
    assert asked(root, found) == [
        ("passed", "OK", 10.0),
        ("passed", "OK", 10.0),
        ("stopped", "LOSS", 7_140.0),
        ("stopped", "STOP", 7_140.0),
    ]
    found = "SELECT group_id, status FROM group_status ORDER BY 1"
    assert asked(root, found) == [
        ("passed", "OK"),
        ("stopped", "LOSS"),
    ]


def test_a_marker_that_is_removed_is_no_loss(tmp_path: Path) -> None:
    """As of clients that commit the last record's offset + 1: the marker behind it is not a record."""
    group = GroupHistory("reader")
    group.commit({"orders": {0: 190, 1: 189}})
    root = tables_of(tmp_path, group)
    sample(root, 40, "orders", {0: 190, 1: 190}, held_back=10)
    sample(root, 70, "orders", {0: 191, 1: 191})
    sample(root, 7_200, "orders", {0: 191, 1: 191}, start=191)

    found = "SELECT status, lost FROM partition_status JOIN lag USING (topic, `partition`) ORDER BY lost"
    assert asked(root, found) == [("OK", 1), ("LOSS", 2)]


def test_an_earlier_life_of_a_name_is_no_rewind(tmp_path: Path) -> None:
    group = GroupHistory("reader")
    group.commit({"orders": {0: 500}})
    group.delete()
    group.commit({"orders": {0: 10}})
    root = tables_of(tmp_path, group)
    sample(root, 1, "orders", {0: 1_000})

    assert asked(root, "SELECT status, commits FROM partition_status") == [("OK", 1)]


def test_the_worst_partition_speaks_for_the_group(tmp_path: Path) -> None:
    group, without_stop = GroupHistory("reader"), GroupHistory("without-stop")
    group.commit({"orders": {0: 100}, "bills": {7: 100}, "gone": {0: 5}})
    for seconds in range(600, 650, 5):
        for each in (group, without_stop):
            each.at(seconds * 1_000)
            each.commit({"orders": {1: 100, 2: 90 - seconds // 10}})
    root = tables_of(tmp_path, group, without_stop)
    sample(root, 0, "orders", {0: 150, 1: 100, 2: 90})
    sample(root, 590, "orders", {1: 200, 2: 90})
    sample(root, 650, "orders", {0: 150, 1: 200, 2: 90})
    sample(root, 650, "bills", {7: 200})

    states = (
        "SELECT topic, `partition`, status FROM partition_status WHERE group_id = 'reader' "
        "ORDER BY topic, `partition`"
    )
    assert asked(root, states) == [
        ("bills", 7, "OK"),
        ("gone", 0, None),
        ("orders", 0, "STOP"),
        ("orders", 1, "STALL"),
        ("orders", 2, "REWIND"),
    ]
    found = rows(str(root), "SELECT * FROM group_status ORDER BY group_id")
    assert [(row["group_id"], row["status"]) for row in found] == [
        ("reader", "STOP"),
        ("without-stop", "STALL"),
    ]
    assert found[0] == {
        "cluster_id": "test",
        "group_id": "reader",
        "status": "STOP",
        "total_lag": 50 + 100 + 64 + 100,
        "max_lag": 100,
        "max_lag_topic": "bills",
        "max_lag_partition": 7,
        "unknown_partitions": 1,
        "owner": None,
        "tier": None,
        "objective_seconds": None,
    }


def test_of_a_group_whose_topics_are_gone_nothing_is_said(tmp_path: Path) -> None:
    group = GroupHistory("reader")
    group.commit({"gone": {0: 5}})
    root = tables_of(tmp_path, group)
    sample(root, 1, "orders", {0: 150})

    found = "SELECT status, total_lag, max_lag, max_lag_topic, unknown_partitions FROM group_status"
    assert asked(root, found) == [(None, None, None, None, 1)]


def test_a_client_that_gives_its_commits_a_time_of_the_future(tmp_path: Path) -> None:
    """As OffsetCommit 1 lets it: the group is silent, or ahead of the log, all the same."""
    group = GroupHistory("g", offsets_retention_minutes=1_440)
    group.commit({"orders": {0: 5, 1: 50}})
    root = tables_of(tmp_path, group)
    DeltaTable(root / "offsets").update(new_values={"commit_timestamp": at(4_000_000_000)})
    sample(root, 0, "orders", {0: 5, 1: 5})
    for seconds in (25_000, 27_000):
        sample(root, seconds, "orders", {0: 10, 1: 5})

    assert asked(
        root,
        "SELECT status, ahead FROM partition_status JOIN lag USING (`partition`) ORDER BY `partition`",
    ) == [
        ("STOP", None),
        ("AHEAD", 45),
    ]
