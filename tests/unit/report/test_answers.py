"""What the page says of a day of a shop (tests/support/busy_day.py)."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from shutil import rmtree

import pytest

from group_coordinator.clients.as_of_time import AsOfTime
from group_coordinator.clients.errors import QueryError
from group_coordinator.core.embedded_protocol import encode_assignment
from group_coordinator.report import page as whole_page
from group_coordinator.report.page import Report, ask, page
from group_coordinator.report.section import Content, Scope, Section
from group_coordinator.report.sections import lag
from group_coordinator.report.sections.changes import CHANGES
from group_coordinator.report.sections.groups import GROUPS
from group_coordinator.report.sections.lag import AT_RISK
from group_coordinator.report.sections.lost import LOST
from group_coordinator.report.sections.objectives import OBJECTIVES
from group_coordinator.report.sections.readiness import READINESS
from group_coordinator.report.sections.rebalances import REBALANCED
from group_coordinator.settings import load
from group_coordinator.tables.timestamps import FIRST_MS, LAST_MS
from tests.support.busy_day import DAY, HOSTILE
from tests.support.extremes import add_mirrored_extremes, extreme_groups, sample_far_ends
from tests.support.group_history import GroupHistory, label, tables_of
from tests.support.samples import sample
from tests.unit.core.mixed_groups import join, sync


def content(report: Report, section: str) -> Content:
    found = report.contents[section]
    assert isinstance(found, Content), found
    return found


def table(report: Report, section: str) -> list[list[str]]:
    [listing] = content(report, section).listings
    return [[cell.text for cell in row] for row in listing.rows]


def tiles(report: Report, section: str) -> list[str]:
    return [f"{tile.number} {tile.label}, {tile.note}" for tile in content(report, section).tiles]


def asked(root: str | Path, about: Scope, *sections: Section) -> Report:
    """The report with these sections alone: each plans queries for itself."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(whole_page, "SECTIONS", sections)
        return ask(str(root), about)


def test_groups_that_need_a_look_come_first(day: Report) -> None:
    assert table(day, "groups") == [
        ["shipping", "STOP", "Empty, classic", "0", "13,281", "9 h 55 min", "orders 2", "-"],
        ["imports", "STOP", "Empty, classic", "0", "10,044", "8 h", "orders 2", "-"],
        ["refunds", "STOP", "Empty, classic", "0", "2,844", "7 h", "orders 1", "-"],
        ["archive", "STOP", "Empty, classic", "0", "852", "at least 23 h 55 min", "returns 0", "-"],
        [HOSTILE, "WARN", "Stable, classic", "1", "25,893", "21 h 1 min", "orders 2", "-"],
        ["analytics", "OK", "Stable, classic", "1", "14,160", "4 h 30 min", "clicks 0", "-"],
        ["billing", "OK", "Stable, classic", "2", "0", "0 s", "-", "-"],
        ["search-index", "OK", "Stable, classic", "1", "0", "0 s", "-", "-"],
    ]
    assert tiles(day, "groups") == [
        "5 not OK, of 8 groups",
        "67.1k records behind, all groups together",
        "23 h behind in time, the slowest group",
    ]


def test_the_lines_of_lag_are_of_those_that_were_most_behind(day: Report) -> None:
    assert [line[:3] for line in table(day, "lag")] == [
        [HOSTILE, "25,893", "25,893"],
        ["analytics", "14,160", "19,320"],
        ["shipping", "13,281", "13,281"],
        ["imports", "10,044", "10,044"],
        ["search-index", "0", "6,114"],
        ["refunds", "2,844", "2,844"],
    ]
    records, seconds = content(day, "lag").figures
    assert [each.name for each in records.legend] == [line[0] for line in table(day, "lag")]
    assert records.legend == seconds.legend
    assert content(day, "lag").listings[0].total == 9


def test_of_too_many_groups_those_far_behind_are_followed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(lag, "FOLLOWED_GROUPS", 2)
    groups = [GroupHistory(name) for name in ("far", "near", "middle")]
    for group, offset in zip(groups, (10, 95, 60), strict=True):
        group.commit({"orders": {0: offset}})
    root = tables_of(tmp_path, *groups)
    sample(root, 60, "orders", {0: 100})

    followed = asked(root, scope(), lag.LAG)
    monkeypatch.setattr(lag, "FOLLOWED_GROUPS", 3)
    every = asked(root, scope(), lag.LAG)

    assert [line[:2] for line in table(followed, "lag")] == [["far", "90"], ["middle", "40"]]
    assert len(content(followed, "lag").remarks) == 1
    assert [line[:2] for line in table(every, "lag")][-1] == ["near", "5"]
    assert content(every, "lag").remarks == ()


def test_records_that_retention_removes(tmp_path: Path) -> None:
    group = GroupHistory("reader")
    group.commit({"orders": {0: 40, 1: 60, 2: 95}, "bills": {0: 20}, "refunds": {0: 7}})
    root = tables_of(tmp_path, group)
    for seconds, start in [(0, 0), (600, 50)]:
        sample(root, seconds, "orders", dict.fromkeys(range(3), 100), start=start)
        sample(root, seconds, "bills", {0: 100}, start=start // 5)
        sample(root, seconds, "refunds", {0: 10})

    report = asked(root, scope(), AT_RISK)

    assert table(report, "at-risk") == [
        ["reader", "orders", "2", "10", "90", "100%", "at the next removal"],
        ["reader", "bills", "1", "0", "80", "89%", "in 10 min"],
    ]
    assert tiles(report, "at-risk") == ["10 records lost, removed unread"]


def test_groups_behind_their_objectives(tmp_path: Path) -> None:
    """The range begins in the middle of the day."""
    groups = [GroupHistory(name) for name in ("late", "quick", "unlabelled")]
    for group, offset in zip(groups, (10, 20, 10), strict=True):
        group.commit({"orders": {0: offset}})
    root = tables_of(tmp_path, *groups)
    for seconds, end in [(0, 10), (60, 10), (120, 20), (180, 20)]:
        sample(root, seconds, "orders", {0: end})
    label(root, ("late", "payments", "gold", 60), ("quick", None, None, 3_600))

    noon = scope(begin=scope().begin + timedelta(hours=12), end=scope().begin + timedelta(hours=36))
    report = asked(root, noon, OBJECTIVES, GROUPS)

    assert table(report, "objectives") == [
        ["late", "payments", "1 min", "75.0%", "2 min", "1"],
        ["quick", "-", "1 h", "100.0%", "0 s", "1"],
    ]
    assert [line[-1] for line in table(report, "groups")] == ["payments", "-", "-"]


def test_a_step_without_commits_is_zero(day: Report) -> None:
    [figure] = content(day, "commits").figures
    [points] = figure.spec["datasets"].values()
    imports = {point["at"][11:16]: point["rate"] for point in points if point["name"] == "imports"}

    assert [imports["15:50"], imports["16:00"], imports["23:50"]] == [0.6, 0, 0]
    assert len(imports) == 144


def test_groups_that_rebalanced_most(day: Report) -> None:
    """Most have formed before the day."""
    assert [" | ".join(row) for row in table(day, "rebalances")] == [
        "search-index | 2 | 1 | 1 | 0 | at least 0 s | 2025-06-02 10:45",
        "imports | 1 | 0 | 1 | 0 | at least 0 s | 2025-06-02 16:00",
        "newsletter-2019 | 1 | 0 | 1 | 0 | at least 0 s | 2025-06-02 00:15",
        "refunds | 1 | 0 | 1 | 0 | at least 0 s | 2025-06-02 17:00",
        "shipping | 1 | 0 | 1 | 0 | at least 0 s | 2025-06-02 14:05",
    ]
    assert tiles(day, "rebalances") == ["6 rebalances, in this time"]


def test_a_rebalance_without_a_known_time(tmp_path: Path) -> None:
    """An old broker has not written when the join phase ended."""
    group = GroupHistory("old", group_initial_rebalance_delay_ms=0)
    group.form()
    for row in group.rows:
        row["value"] = row["value"].replace('Timestamp":0', 'Timestamp":-1')

    report = asked(tables_of(tmp_path, group), scope(), REBALANCED)

    [line] = table(report, "rebalances")
    assert line == ["old", "1", "1", "0", "0", "-", "1970-01-01 00:00"]


def test_offsets_that_expire_next(day: Report) -> None:
    assert table(day, "expiring") == [
        ["imports", "orders", "3", "2025-06-03 04:00", "in 4 h"],
        ["archive", "returns", "1", "2025-06-07 00:10", "in 4 d"],
        ["shipping", "orders", "3", "2025-06-09 14:10", "in 6 d 14 h"],
        ["refunds", "orders", "1", "2025-06-09 17:00", "in 6 d 17 h"],
    ]
    assert tiles(day, "expiring") == ["3 offsets expire, within a day"]
    assert content(day, "expiring").remarks == ["19 offsets in all; 11 of them are protected."]


def test_what_was_lost_and_why(day: Report) -> None:
    assert [" | ".join(row) for row in table(day, "lost")] == [
        "2025-06-02 18:00 | refunds | orders | 2 partitions | offset-deleted | User:ops | lost still",
        "2025-06-02 06:20 | newsletter-2019 | newsletter | partition 0, at 700 | offset-expired | - | lost still",
    ]
    assert tiles(day, "lost") == ["3 offsets lost, in this time"]


def test_who_changed_what(day: Report) -> None:
    assert [" | ".join(row) for row in table(day, "changes")] == [
        "2025-06-02 18:00 | User:ops | deleted | refunds | orders | 2 partitions lost",
        "2025-06-02 10:35 | User:anna | reset | search-index | orders | 3 partitions, 5,502 records back",
    ]


def test_topics_that_nobody_reads(day: Report) -> None:
    assert table(day, "stale") == [
        ["returns", "unread", "1", "852", "2025-05-31 00:00", "2025-06-02 23:55"]
    ]


def test_groups_that_could_change_to_the_new_protocol(day: Report) -> None:
    assert table(day, "readiness") == [["empty", "4", "0"], ["ready", "4", "5"]]


def test_a_blocked_group_names_its_clients(tmp_path: Path) -> None:
    group = GroupHistory("billing", group_initial_rebalance_delay_ms=0)
    group.client_id = "shop\u202e"
    names = {"group_id": "billing", "version": 3}
    leader = join(group, names=("own",), **names).response
    given = ((leader.member_id, encode_assignment({"orders": [0]}, user_data=b"mine")),)
    sync(
        group,
        leader.member_id,
        leader.generation,
        group_id="billing",
        protocol="own",
        assignments=given,
    )

    report = asked(tables_of(tmp_path, group), scope(), READINESS)
    counts, blocked = content(report, "readiness").listings

    assert [[cell.text for cell in row] for row in counts.rows] == [["blocked", "1", "1"]]
    assert [[cell.text for cell in row] for row in blocked.rows] == [
        ["billing", "user-data", "own", "1", r"shop\u202e"]
    ]


def test_one_cluster_alone_is_not_named_at_every_group(day: Report) -> None:
    assert (day.scope.cluster, day.clusters) == ("shop", ("shop",))


@pytest.fixture
def two_clusters(tmp_path: Path) -> str:
    here, there = (
        GroupHistory("billing", cluster_id="here"),
        GroupHistory("billing", cluster_id="it's"),
    )
    here.commit({"orders": {0: 1}})
    there.commit({"orders": {0: 2}})
    there.sleep(60_000)
    there.delete()
    return str(tables_of(tmp_path, here, there))


def scope(**changes: object) -> Scope:
    begin = DAY.replace(year=1970, month=1, day=1)
    return Scope(begin, begin + timedelta(hours=1))._replace(**changes)  # type: ignore[arg-type]


def test_groups_of_several_clusters_have_theirs_before_the_name(two_clusters: str) -> None:
    report = asked(two_clusters, scope(), GROUPS, LOST)

    assert report.clusters == ("here", "it's")
    assert [line[0] for line in table(report, "groups")] == ["here / billing"]
    assert [line[1] for line in table(report, "lost")] == ["it's / billing"]


def test_two_groups_never_have_one_name(tmp_path: Path) -> None:
    places = [("a", "b / c"), ("a / b", "c"), ("a", "b  / c"), ("a", "b / c "), ("a ", "d")]
    groups = [GroupHistory(group_id, cluster_id=cluster_id) for cluster_id, group_id in places]
    for group in groups:
        group.commit({"orders": {0: 1}})

    report = ask(str(tables_of(tmp_path, *groups)), scope())

    assert [line[0] for line in table(report, "groups")] == [
        r"a / b \x20/ c",
        "a / b / c",
        r"a / b / c\x20",
        r"a\x20 / d",
        "a // b / c",
    ]
    assert r"Clusters: a, a\x20, a / b." in page(report)


def test_one_cluster_of_several(two_clusters: str) -> None:
    report = asked(two_clusters, scope(cluster="it's"), GROUPS, LOST)

    assert content(report, "groups").listings == ()
    assert [line[1] for line in table(report, "lost")] == ["billing"]


def test_an_earlier_time(two_clusters: str) -> None:
    before = scope().begin + timedelta(seconds=59)

    report = ask(two_clusters, scope(end=before), AsOfTime(before, load().coordinator))

    assert [line[0] for line in table(report, "groups")] == ["here / billing", "it's / billing"]
    assert tiles(report, "lost") == ["0 offsets lost, in this time"]


def test_what_is_outside_of_the_time_is_left_out(two_clusters: str) -> None:
    begin = scope().begin

    for seconds, lost in (60, "1"), (61, "0"):
        about = scope(begin=begin + timedelta(seconds=seconds))
        assert tiles(asked(two_clusters, about, LOST), "lost")[0][0] == lost


@pytest.fixture(scope="module")
def extremes(tmp_path_factory: pytest.TempPathFactory) -> str:
    ordinary = GroupHistory("ordinary", cluster_id="test")
    for offset in (10, 20):
        ordinary.commit({"bills": {0: offset}})
        ordinary.sleep(60_000)
    ordinary.delete_offsets({"bills": [0]})
    ordinary.commit({"bills": {0: 15}})
    root = tables_of(tmp_path_factory.mktemp("extremes"), ordinary, *extreme_groups())
    add_mirrored_extremes(root)
    sample(root, 60, "bills", {0: 500})
    sample(root, 130, "bills", {0: 5_000})
    sample(root, 130, "orders", {0: 1_000})
    sample_far_ends(root, 130)
    return str(root)


@pytest.mark.parametrize(
    ("begin", "end"), [(FIRST_MS // 1_000, 3_600), (0, LAST_MS // 1_000), (-1, 200)]
)
def test_an_extreme_is_no_trouble_for_any_section(extremes: str, begin: int, end: int) -> None:
    epoch = scope().begin
    about = scope(begin=epoch + timedelta(seconds=begin), end=epoch + timedelta(seconds=end))

    report = ask(extremes, about)

    assert {type(found) for found in report.contents.values()} == {Content}
    assert "ordinary" in page(report)
    assert tiles(report, "groups")[1] == "9.22E records behind, all groups together"
    lost = [line[0] for line in table(report, "lost") if line[1] == "ordinary"]
    assert lost == ["1970-01-01 00:02"]
    assert [line[:3] for line in table(report, "lag")[:2]] == [
        ["far-behind", "9,223,372,036,854,775,807", "9,223,372,036,854,775,807"],
        ["ordinary", "4,985", "4,985"],
    ]


def test_how_far_offsets_were_moved_has_more_than_64_bits(tmp_path: Path) -> None:
    group = GroupHistory("billing")
    for offset in (2**63 - 1, 0):
        group.commit({"orders": {0: offset, 1: offset}})

    report = asked(tables_of(tmp_path, group), scope(), CHANGES)

    assert [line[-1] for line in table(report, "changes")] == [
        "2 partitions, 9,223,372,036,854,775,807 records back"
    ]


def test_empty_tables_have_nothing_to_show(tmp_path: Path) -> None:
    report = ask(str(tables_of(tmp_path)), scope())

    found = [content(report, name) for name in report.contents]
    assert [(each.figures, each.listings) for each in found] == [((), ())] * 11


def test_a_table_that_is_missing_costs_the_sections_that_need_it(two_clusters: str) -> None:
    rmtree(Path(two_clusters) / "topic_positions")

    report = ask(two_clusters, scope())

    troubled = [name for name, found in report.contents.items() if isinstance(found, QueryError)]
    assert troubled == ["groups", "lag", "objectives", "at-risk", "stale"]
