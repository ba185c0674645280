"""Owners and objectives of groups: which pattern counts, and which part of a day was within the objective."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from group_coordinator.clients.sql_tables import rows
from tests.support.group_history import GroupHistory, asked, at, label, tables_of
from tests.support.samples import sample
from tests.support.view_rows import answers

OWNERS = "SELECT group_id, owner FROM group_owners ORDER BY group_id"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    groups = [GroupHistory(name) for name in ("payments", "payments-eu", "search", "a_b.c%")]
    for group in groups:
        group.commit({"orders": {0: 1}})
    return tables_of(tmp_path, *groups)


def test_the_most_specific_pattern_counts_in_any_order_of_rows(root: Path) -> None:
    label(
        root,
        ("*", "platform", None, None),
        ("payments*", "payments", "gold", 60),
        ("payments-*", "europe", None, None),
        ("payments", "billing", "silver", 5),
    )

    assert asked(root, OWNERS) == [
        ("a_b.c%", "platform"),
        ("payments", "billing"),
        ("payments-eu", "europe"),
        ("search", "platform"),
    ]
    labels = "SELECT owner, tier, objective_seconds, pattern FROM group_owners"
    assert asked(root, f"{labels} WHERE group_id = 'payments'") == [
        ("billing", "silver", 5, "payments")
    ]


def test_a_group_without_a_pattern_has_no_labels_in_its_status(root: Path) -> None:
    label(root, ("pay*", "payments", "gold", 60))

    assert asked(root, OWNERS) == [("payments", "payments"), ("payments-eu", "payments")]
    labels = "SELECT group_id, owner, tier, objective_seconds FROM group_status ORDER BY group_id"
    assert asked(root, labels) == [
        ("a_b.c%", None, None, None),
        ("payments", "payments", "gold", 60),
        ("payments-eu", "payments", "gold", 60),
        ("search", None, None, None),
    ]


def test_labels_are_of_one_cluster_and_replaced_as_a_whole(root: Path) -> None:
    label(root, ("pay*", "payments", None, None))
    label(root, ("*", "elsewhere", None, None), cluster_id="other")
    label(root, ("search", "it's", None, None))

    assert asked(root, OWNERS) == [("search", "it's")]
    label(root)
    assert asked(root, OWNERS) == []
    assert asked(root, "SELECT cluster_id, owner FROM group_labels") == [("other", "elsewhere")]


def test_tables_of_an_earlier_version_have_no_labels_and_no_share_groups(root: Path) -> None:
    for table in ("group_labels", "share_group_offsets"):
        for file in (root / table).rglob("*.json"):
            file.unlink()

    assert asked(root, OWNERS) == []
    assert rows(str(root), "SELECT * FROM objectives") == []
    assert asked(root, "SELECT count(*) FROM lag_history WHERE lag IS NULL") == [(0,)]
    assert asked(root, "SELECT count(owner), count(*) FROM group_status") == [(0, 4)]


def matches(pattern: str, group_id: str) -> bool:
    text = ".*".join(map(re.escape, pattern.split("*")))
    return re.fullmatch(text, group_id, re.DOTALL) is not None


ODD = ("", "a", "aa", "A", "aba", "a*", "*", "%", "_", "\\", "\\%", ".", "a.b", "é", "e\u0301", "🙂a", "a\nb", "?")  # fmt: skip


def test_only_stars_are_wildcards() -> None:
    patterns = [
        *("*", "**", "a", "a*", "*a", "*a*", "a*a", "a*b*a", "a*", "%", "_", "*_*", "\\*", "*.*", "?"),
        *("é", "*\u0301", "🙂*", "*🙂*a", "a\n*", "***", "a*b*a*"),
    ]  # fmt: skip
    given = {
        "groups": [{"cluster_id": name, "group_id": name} for name in ODD],
        "group_labels": [{"cluster_id": name, "pattern": pattern} for name in ODD for pattern in patterns],
    }  # fmt: skip

    for pattern in patterns:
        alone = given | {"group_labels": [{"cluster_id": name, "pattern": pattern} for name in ODD]}
        [found] = answers(alone, "group_owners")
        wanted = {name for name in ODD if pattern.count("*") <= 2 and matches(pattern, name)}
        assert {row["group_id"] for row in found} == wanted, pattern


DAY_S = 86_400
OBJECTIVES = (
    "SELECT group_id, day, met, sampled_hours, worst_seconds FROM objectives ORDER BY group_id, day"
)


def test_the_part_of_a_day_within_the_objective(tmp_path: Path) -> None:
    """The log grows by 10 every ten minutes; the group reads all, except for half an hour of the first day."""
    group = GroupHistory("billing")
    late = GroupHistory("late")
    late.commit({"orders": {0: 100}})
    for minute in range(10, 70, 10):
        group.at(minute * 60_000 - 1_000)
        if minute not in (30, 40, 50):
            group.commit({"orders": {0: 100 + minute}})
    root = tables_of(tmp_path, group, late)
    for minute in range(0, 70, 10):
        sample(root, minute * 60, "orders", {0: 100 + minute})
    label(root, ("billing", "payments", "gold", 600))

    # Behind for 10, 20 and 30 minutes at the samples of 30, 40 and 50.
    assert asked(root, OBJECTIVES) == [("billing", at(0), 4 / 6, 2, 1_800.0)]
    assert asked(root, "SELECT owner, objective_seconds, tier FROM objectives") == [
        ("payments", 600, "gold")
    ]


def test_days_begin_at_midnight_utc_and_a_minute_has_its_worst_partition(tmp_path: Path) -> None:
    group = GroupHistory("billing")
    group.commit({"orders": {0: 10}, "bills": {0: 10}})
    root = tables_of(tmp_path, group)
    for second in (DAY_S - 180, DAY_S - 120, DAY_S - 60, DAY_S, DAY_S + 60):
        sample(root, second, "orders", {0: 10})
        # Another sampler, in the same minute: from the day's end on there is more to read.
        sample(root, second + 20, "bills", {0: 10 if second < DAY_S - 60 else 20})
    label(root, ("*", None, None, 30))

    assert asked(root, OBJECTIVES) == [
        ("billing", at(0), 2 / 3, 1, 60.0),
        ("billing", at(DAY_S), 0.0, 1, 180.0),
    ]


def test_an_unknown_lag_is_neither_met_nor_missed(tmp_path: Path) -> None:
    """The first sample has a later end already: lag is at least 0, then at least 40 and 80 seconds."""
    group = GroupHistory("billing")
    group.commit({"orders": {0: 1}})
    root = tables_of(tmp_path, group)
    for second in (0, 60, 120):
        sample(root, second, "orders", {0: 10})
    label(root, ("*", None, None, 60))

    assert asked(root, OBJECTIVES) == [("billing", at(0), 0.0, 1, 120.0)]
