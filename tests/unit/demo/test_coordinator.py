"""The coordinator's show without Kafka, Spark and waiting."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from deltalake import write_deltalake

from group_coordinator.clients import sql_tables
from group_coordinator.demo import tables_watch
from group_coordinator.demo.coordinator.applications import (
    LEADING,
    PARTITION_COUNTS,
    WITHOUT_MEMBERS,
    TooFewMembersError,
    other_groups,
)
from group_coordinator.demo.coordinator.show import REBALANCES
from group_coordinator.demo.tables_watch import ENDS, LOSSES, UPGRADES, TablesReader, ViewQuestion
from tests.support.group_history import tables_of
from tests.unit.demo.positions import samples
from tests.unit.demo.rehearsal import Rehearsal


@pytest.fixture(scope="module")
def rehearsal() -> Rehearsal:
    rehearsal = Rehearsal(20, 50, 90)
    rehearsal.run()
    return rehearsal


@pytest.fixture(scope="module")
def tables(rehearsal: Rehearsal, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tables_of(tmp_path_factory.mktemp("tables"), rehearsal.coordinator)


def rows(tables: Path, question: ViewQuestion) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in sql_tables.rows(str(tables), question.sql())]


def test_every_request_has_a_response_and_no_member_gives_up(rehearsal: Rehearsal) -> None:
    assert rehearsal.show.channel.failed_count == 0
    assert not [told for told in rehearsal.board.frame().story if "gave up" in told.sentence]


def test_most_groups_are_at_work_in_the_end(rehearsal: Rehearsal) -> None:
    figures = rehearsal.show.figures

    assert sum(figures.states.values()) == 20
    assert figures.states["Dead"] == 3
    assert figures.states["Stable"] >= 12
    assert figures.consumer_group_count == 8


def test_the_losses_are_those_of_the_story(tables: Path) -> None:
    assert sorted(row[1:5] for row in rows(tables, tables_watch.LOST)) == [
        ("nightly-export", "orders", 6, "offset-expired"),
        ("recommendations", "clicks", 6, "offset-expired"),
        ("returns-desk", "orders", 6, "offset-expired"),
        ("returns-desk", "shipments", 4, "offset-expired"),
        ("spring-sale", "clicks", 6, "group-deleted"),
        ("warehouse", "payments", 4, "offset-deleted"),
    ]


def test_the_life_of_a_group(tables: Path) -> None:
    assert [row[1:] for row in rows(tables, tables_watch.LIFE)] == [
        ("created", 0, None, "offset-commit"),
        ("rebalanced", 3, 1, "sync"),
        ("emptied", 0, 2, "leave"),
        ("expired", 0, 2, "group-expired"),
    ]


def test_the_principal_of_a_deletion(tables: Path) -> None:
    assert [row[1:] for row in rows(tables, tables_watch.DELETED)] == [
        ("User:shop", "group-deleted", "spring-sale", "clicks", 6),
        ("User:shop", "deleted", "warehouse", "payments", 4),
    ]


def test_a_group_is_upgraded_and_never_without_members(tables: Path) -> None:
    assert [row[1:] for row in rows(tables, tables_watch.UPGRADED)] == [
        ("converted", 3, 0),
        ("joined", 3, 1),
        ("left", 2, 1),
        ("joined", 2, 2),
        ("left", 1, 2),
        ("joined", 1, 3),
        ("left", 0, 3),
    ]


def test_the_administrator_uses_the_command_line(rehearsal: Rehearsal) -> None:
    assert rehearsal.commands.commands == [
        "groups --delete --group spring-sale --group fraud-check",
        "groups --delete-offsets --group warehouse --topic payments --topic shipments",
        "groups --describe --group checkout --members --verbose",
        "groups --describe --group sales-report",
    ]


def test_news_in_the_tables_are_added_once(tables: Path) -> None:
    news: list[str] = []
    watch = TablesReader(str(tables), news.append, (LOSSES, ENDS, UPGRADES, REBALANCES))
    watch.look()
    added = len(news)
    watch.look()

    figures = watch.counts
    assert (figures.offset_count, figures.expired_count, figures.deleted_count) == (108, 22, 10)
    assert len(news) == added
    for sentence in (
        "returns-desk lost its offsets of orders (6): offset-expired.",
        "the group returns-desk expired, its name is free again.",
        "checkout is a consumer group (KIP-848) from now on; members: 3.",
        "mobile-push assigned its partitions again; members now: 3.",
        "fraud-check assigned its partitions again; members now: 5.",
    ):
        assert f"The tables say: {sentence}" in news


def test_the_tables_have_the_end_once_commits_and_samples_are_later(
    rehearsal: Rehearsal, tmp_path: Path
) -> None:
    tables = tables_of(tmp_path, rehearsal.coordinator)
    watch = TablesReader(str(tables), print, ())
    watch.look()
    at = datetime(2026, 1, 1, 0, 1, 30, tzinfo=UTC)
    assert not watch.have(at)  # no sample yet

    write_deltalake(
        tables / "topic_positions", samples(at + timedelta(seconds=5), [1]), mode="append"
    )
    watch.look()

    assert watch.have(at)
    assert not watch.have(at + timedelta(seconds=5))


def test_other_groups_have_the_remaining_members() -> None:
    groups = other_groups(50, 150)

    assert len(groups) == 38
    assert sum(group.member_count for group in groups) == 119
    assert {group.member_count for group in groups} == {3, 4}
    assert {topic for group in groups for topic in group.topics} == PARTITION_COUNTS.keys()
    protocols = [group.group_protocol for group in groups]
    assert (protocols.count("classic"), protocols.count("consumer")) == (19, 19)
    [smallest] = other_groups(13, 32)
    assert smallest.member_count == 1


def test_two_groups_never_have_the_same_name() -> None:
    groups = (*LEADING, *WITHOUT_MEMBERS, *other_groups(200, 1_000))

    assert len({group.group_id for group in groups}) == 200


@pytest.mark.parametrize(("groups", "members"), [(12, 150), (50, 40)])
def test_a_group_needs_a_member(groups: int, members: int) -> None:
    with pytest.raises(TooFewMembersError, match="--groups to at least 13"):
        other_groups(groups, members)
