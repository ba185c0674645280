"""What becomes of offsets, told by the state machine and asked of the views."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.group_history import GroupHistory, asked, at, tables_of
from tests.unit.core import requests

MINUTE = 60_000


AUDIT = "SELECT at, `partition`, `before`, `after`, change, principal FROM audit ORDER BY at, `partition`"
LOST = "SELECT `partition`, last_offset, lost_at, reason, principal, committed_again_at FROM lost_offsets ORDER BY lost_at"
CHANGES = "SELECT at, `partition`, `before`, `after` FROM offset_changes ORDER BY batch_id, seq"


@pytest.fixture
def group() -> GroupHistory:
    """Offsets are kept for a minute, and swept every ten seconds."""
    return GroupHistory(
        "billing",
        offsets_retention_ms=MINUTE,
        offsets_retention_check_interval_ms=10_000,
        group_initial_rebalance_delay_ms=0,
    )


def commit_as_member(group: GroupHistory, member_id: str, offset: int, partition: int = 0) -> None:
    generation = group.group.membership.generation  # type: ignore[union-attr]
    group.commit({"orders": {partition: offset}}, member_id, generation)


def test_a_reset_is_told_from_a_rewind_by_who_is_there(group: GroupHistory, tmp_path: Path) -> None:
    group.principal = "User:billing"
    [member] = group.form()
    commit_as_member(group, member, 40)
    group.sleep(1_000)
    commit_as_member(group, member, 30)  # the consumer sought back
    group.leave(member)
    group.sleep(1_000)
    group.principal = "User:admin"
    group.commit({"orders": {0: 5}})
    group.sleep(1_000)
    group.commit({"orders": {0: 90}})

    assert asked(tables_of(tmp_path, group), AUDIT) == [
        (at(1), 0, 40, 30, "rewind", "User:billing"),
        (at(2), 0, 30, 5, "reset", "User:admin"),
        (at(3), 0, 5, 90, "reset", "User:admin"),
    ]


def test_a_step_to_a_number_below_0_or_from_it_is_no_rewind(
    group: GroupHistory, tmp_path: Path
) -> None:
    [member] = group.form()
    for offset in (40, -1, -2, 30):
        commit_as_member(group, member, offset)
    group.leave(member)
    group.commit({"orders": {0: -1}})

    assert asked(tables_of(tmp_path, group), "SELECT `before`, `after`, change FROM audit") == [
        (30, None, "reset")
    ]


def test_a_number_below_0_is_no_offset_to_lose(group: GroupHistory, tmp_path: Path) -> None:
    group.commit({"orders": {0: 40, 1: -1}})
    group.sleep(1_000)
    group.delete_offsets({"orders": [0, 1]})
    group.sleep(1_000)
    group.commit({"orders": {0: -1}})
    group.sleep(1_000)
    group.delete_offsets({"orders": [0]})
    group.sleep(1_000)
    group.commit({"orders": {0: 7}})

    assert asked(tables_of(tmp_path, group), LOST) == [
        (0, 40, at(1), "offset-deleted", None, at(4))
    ]


def test_of_a_group_that_only_stores_offsets_nobody_knows_who_commits(
    group: GroupHistory, tmp_path: Path
) -> None:
    group.commit({"orders": {0: 40}})
    group.sleep(1_000)
    group.commit({"orders": {0: 50}})
    group.sleep(1_000)
    group.commit({"orders": {0: 10}})
    root = tables_of(tmp_path, group)

    assert asked(root, AUDIT) == [(at(2), 0, 50, 10, "rewind", None)]
    assert asked(root, "SELECT DISTINCT by_member FROM offset_changes") == [(None,)]


def test_a_reset_that_says_so_is_one_in_any_group(group: GroupHistory, tmp_path: Path) -> None:
    group.principal = "User:nightly"
    group.commit({"orders": {0: 40, 1: 7}})
    group.sleep(1_000)
    group.principal = "User:admin"
    entries = (requests.at_offset(90, 0), requests.at_offset(3, 1), requests.at_offset(0, 2))
    reset = requests.commit(*entries).replace(group_id="billing", is_reset=True)
    group.send(reset, 9)
    group.sleep(1_000)
    group.principal = "User:nightly"
    group.commit({"orders": {0: 91}})

    assert asked(tables_of(tmp_path, group), AUDIT) == [
        (at(1), 0, 40, 90, "reset", "User:admin"),
        (at(1), 1, 7, 3, "reset", "User:admin"),
        (at(1), 2, None, 0, "reset", "User:admin"),
    ]


def test_of_a_commit_before_the_first_rebalance_nothing_tells(tmp_path: Path) -> None:
    group = GroupHistory()
    group.join(version=3)  # parked until the join phase ends: the log has an Empty group only
    group.commit({"orders": {0: 7}}, next(iter(group.group.membership.members)), 0)  # type: ignore[union-attr]

    assert asked(tables_of(tmp_path, group), "SELECT `after`, by_member FROM offset_changes") == [
        (7, None)
    ]


def test_an_offset_expires_and_the_group_comes_back(group: GroupHistory, tmp_path: Path) -> None:
    group.principal = "User:billing"
    group.commit({"orders": {0: 40}})
    group.sleep(70_000)
    group.commit({"orders": {0: 41}})
    root = tables_of(tmp_path, group)

    assert asked(root, LOST) == [(0, 40, at(60), "offset-expired", None, at(70))]
    assert asked(root, AUDIT) == [(at(60), 0, 40, None, "expired", None)]
    assert asked(root, CHANGES) == [
        (at(0), 0, None, 40),
        (at(60), 0, 40, None),
        (at(70), 0, None, 41),
    ]


def test_two_lives_of_a_name(group: GroupHistory, tmp_path: Path) -> None:
    group.principal = "User:admin"
    group.commit({"orders": {0: 40, 1: 41}})
    group.delete_offsets({"orders": [1]})
    group.sleep(1_000)
    group.delete()
    group.sleep(1_000)
    group.commit({"orders": {0: 7}})
    group.sleep(1_000)
    group.delete()
    root = tables_of(tmp_path, group)

    assert asked(root, LOST) == [
        (1, 41, at(0), "offset-deleted", "User:admin", None),
        (0, 40, at(1), "group-deleted", "User:admin", at(2)),
        (0, 7, at(3), "group-deleted", "User:admin", None),
    ]
    assert asked(root, AUDIT) == [
        (at(0), 1, 41, None, "deleted", "User:admin"),
        (at(1), 0, 40, None, "group-deleted", "User:admin"),
        (at(3), 0, 7, None, "group-deleted", "User:admin"),
    ]
    assert asked(root, "SELECT DISTINCT audit.inferred, client_id FROM lost_offsets, audit") == [
        (False, None)
    ]


def test_an_offset_of_a_transaction_counts_from_its_end_on(
    group: GroupHistory, tmp_path: Path
) -> None:
    group.commit({"orders": {0: 10}})
    group.sleep(1_000)
    group.commit_in_transaction(17, "orders", 0, 20)
    group.commit_in_transaction(17, "orders", 0, 21)
    group.commit_in_transaction(17, "orders", 1, 30)
    group.sleep(1_000)
    group.end_transaction(17, is_commit=True)
    group.commit_in_transaction(17, "orders", 0, 99)
    group.end_transaction(17, is_commit=False)

    assert asked(tables_of(tmp_path, group), CHANGES) == [
        (at(0), 0, None, 10),
        (at(2), 0, 10, 21),
        (at(2), 1, None, 30),
    ]


def test_a_marker_that_says_where_it_is_ends_what_was_committed_before_it(
    group: GroupHistory, tmp_path: Path
) -> None:
    group.principal = "User:app"
    group.commit_in_transaction(17, "orders", 0, 20, since=5)
    group.commit_in_transaction(17, "orders", 0, 30, since=7)
    group.principal = None
    group.sleep(1_000)
    group.end_transaction(17, is_commit=True, at=6)
    group.sleep(1_000)
    group.end_transaction(17, is_commit=False, at=9)
    root = tables_of(tmp_path, group)

    assert asked(root, CHANGES) == [(at(1), 0, None, 20)]
    assert asked(root, "SELECT principal FROM offset_changes") == [("User:app",)]


def test_an_offset_of_a_fenced_producer_never_counts(group: GroupHistory, tmp_path: Path) -> None:
    group.commit_in_transaction(17, "orders", 0, 20, since=5, epoch=1)
    group.commit_in_transaction(17, "orders", 1, 21, since=5, epoch=2)
    group.end_transaction(17, is_commit=True, at=6, epoch=2)

    assert asked(tables_of(tmp_path, group), CHANGES) == [(at(0), 1, None, 21)]


def test_what_was_committed_later_outdoes_a_transaction(
    group: GroupHistory, tmp_path: Path
) -> None:
    group.commit_in_transaction(17, "orders", 0, 20)
    group.commit_in_transaction(18, "orders", 0, 30)
    group.end_transaction(18, is_commit=True)
    group.end_transaction(17, is_commit=True)  # 20 was written before 30
    group.commit_in_transaction(17, "orders", 1, 5)
    group.commit({"orders": {1: 6}})
    group.end_transaction(17, is_commit=True)

    assert asked(tables_of(tmp_path, group), CHANGES) == [
        (at(0), 0, None, 30),
        (at(0), 1, None, 6),
    ]


def test_what_protects_an_offset(group: GroupHistory, tmp_path: Path) -> None:
    group.form(topics=("orders",))
    group.principal = None
    alone = GroupHistory(
        "alone", offsets_retention_ms=MINUTE, offsets_retention_check_interval_ms=10_000
    )
    alone.commit({"orders": {0: 1, 1: 2, 2: 3, 3: 4, 4: 5}})
    alone.commit_in_transaction(17, "orders", 1, 20)
    alone.commit_in_transaction(18, "orders", 2, 20)
    alone.end_transaction(18, is_commit=False)
    alone.commit_in_transaction(19, "orders", 3, 20, since=6)
    alone.commit_in_transaction(19, "orders", 4, 20, since=7)
    alone.end_transaction(19, is_commit=False, at=6)
    [member] = group.group.membership.members  # type: ignore[union-attr]
    commit_as_member(group, member, 40)
    group.commit({"refunds": {0: 4}}, member, group.group.membership.generation)  # type: ignore[union-attr]
    root = tables_of(tmp_path, group, alone)

    assert asked(
        root,
        "SELECT group_id, topic, `partition`, committed_offset, expires_at, protected_by "
        "FROM expiring_soon ORDER BY group_id, topic, `partition`",
    ) == [
        ("alone", "orders", 0, 1, at(60), None),
        ("alone", "orders", 1, 2, None, "transaction"),
        ("alone", "orders", 2, 3, at(60), None),
        ("alone", "orders", 3, 4, at(60), None),
        ("alone", "orders", 4, 5, None, "transaction"),
        ("billing", "orders", 0, 40, None, "subscription"),
        ("billing", "refunds", 0, 4, at(60 + group.now_ms // 1_000), None),
    ]


def test_the_rate_of_commits(group: GroupHistory, tmp_path: Path) -> None:
    for offset in (100, 160, 40):
        group.commit({"orders": {0: offset}, "refunds": {0: 1}})
        group.sleep(1_000)
    group.at(MINUTE + 1)
    group.commit({"orders": {0: 60, 1: 7}})

    assert asked(
        tables_of(tmp_path, group),
        "SELECT `minute`, commits, partitions, advanced, commits_per_second, offsets_per_second "
        "FROM commit_rate WHERE topic = 'orders' ORDER BY `minute`",
    ) == [(at(0), 3, 1, 60, 0.05, 1.0), (at(60), 2, 2, 20, 2 / 60, 20 / 60)]


def test_a_jump_that_no_reader_makes_is_no_rate(group: GroupHistory, tmp_path: Path) -> None:
    for offset in (-(2**63), 5, 2**63 - 1, 0, 2**63 - 1, 7, 10**12 + 7, 2 * 10**12 + 8):
        group.commit({"orders": {0: offset}})

    root = tables_of(tmp_path, group)
    assert asked(root, "SELECT commits, advanced FROM commit_rate") == [(8, 10**12)]


def test_clusters_are_kept_apart(group: GroupHistory, tmp_path: Path) -> None:
    group.commit({"orders": {0: 40}})
    other = GroupHistory("billing", cluster_id="other")
    other.commit({"orders": {0: 7}})
    other.delete()
    root = tables_of(tmp_path, group, other)

    assert asked(root, "SELECT cluster_id, last_offset FROM lost_offsets") == [("other", 7)]
    assert asked(root, "SELECT cluster_id, committed_offset FROM expiring_soon") == [("test", 40)]
    assert asked(
        root, "SELECT cluster_id, `before`, `after` FROM offset_changes ORDER BY 1, batch_id"
    ) == [("other", None, 7), ("other", 7, None), ("test", None, 40)]
