from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from group_coordinator.clients import sql_tables
from group_coordinator.demo import answers
from group_coordinator.demo.board import Board
from group_coordinator.demo.chart import draw
from group_coordinator.demo.coordinator_figures import CoordinatorFigures
from group_coordinator.demo.gateway import answers as gateway_answers
from group_coordinator.demo.mirror import answers as mirror_answers
from group_coordinator.demo.plan import Plan
from group_coordinator.demo.question import Question
from group_coordinator.demo.watch import TablesWatch
from tests.support.group_history import tables_of
from tests.unit.demo.rehearsal import Rehearsal

PNG = b"\x89PNG"
COMPACTED = datetime(2026, 1, 1, 0, 1, 45, 100_000, tzinfo=UTC)
OWN_QUESTIONS = tuple(dict.fromkeys((*answers.QUESTIONS, *gateway_answers.QUESTIONS)))


@pytest.fixture(scope="module")
def rehearsal() -> Rehearsal:
    rehearsal = Rehearsal(Plan(20, 50, 90, keep=False))
    rehearsal.run()
    return rehearsal


@pytest.fixture(scope="module")
def tables(rehearsal: Rehearsal, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tables_of(tmp_path_factory.mktemp("tables"), rehearsal.coordinator)


def rows(tables: Path, question: Question) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in sql_tables.rows(str(tables), question.sql)]


def test_nobody_is_refused_for_good(rehearsal: Rehearsal) -> None:
    assert rehearsal.refusals == []
    assert rehearsal.measures.unanswered_count == 0


def test_most_groups_are_at_work_in_the_end(rehearsal: Rehearsal) -> None:
    figures = rehearsal.board.frame().figures

    assert sum(figures.group_states.values()) == 20
    assert figures.group_states["Dead"] == 3
    assert figures.group_states["Stable"] >= 12


def test_what_is_lost_is_what_the_story_says(tables: Path) -> None:
    losses = [(row[1], row[2], row[3], row[4]) for row in rows(tables, answers.LOST)]

    assert sorted(losses) == [
        ("nightly-export", "orders", 6, "offset-expired"),
        ("recommendations", "clicks", 6, "offset-expired"),
        ("returns-desk", "orders", 6, "offset-expired"),
        ("returns-desk", "shipments", 4, "offset-expired"),
        ("spring-sale", "clicks", 6, "group-deleted"),
        ("warehouse", "payments", 4, "offset-deleted"),
    ]


def test_the_life_of_a_group(tables: Path) -> None:
    life = [row[1:] for row in rows(tables, answers.LIFE)]

    assert life == [
        ("created", 0, None, "offset-commit"),
        ("rebalanced", 3, 1, "sync"),
        ("emptied", 0, 2, "leave"),
        ("expired", 0, 2, "group-expired"),
    ]


def test_who_deleted_what(tables: Path) -> None:
    deletions = [row[1:] for row in rows(tables, answers.DELETED)]

    assert deletions == [
        ("User:shop", "group-deleted", "spring-sale", "clicks", 6),
        ("User:shop", "deleted", "warehouse", "payments", 4),
    ]


def test_a_group_is_upgraded_and_never_without_members(tables: Path) -> None:
    steps = [row[1:] for row in rows(tables, answers.UPGRADED)]

    assert steps == [
        ("converted", 3, 0),
        ("joined", 3, 1),
        ("left", 2, 1),
        ("joined", 2, 2),
        ("left", 1, 2),
        ("joined", 1, 3),
        ("left", 0, 3),
    ]


def test_groups_of_both_protocols_are_at_work(rehearsal: Rehearsal) -> None:
    assert rehearsal.board.frame().figures.consumer_group_count == 8


def test_the_administrator_uses_the_command_line(rehearsal: Rehearsal) -> None:
    assert rehearsal.commands.asked == [
        "groups --delete --group spring-sale --group fraud-check",
        "groups --delete-offsets --group warehouse --topic payments --topic shipments",
        "groups --describe --group checkout --members --verbose",
        "groups --describe --group sales-report",
    ]


@pytest.mark.parametrize(
    "question",
    dict.fromkeys((*OWN_QUESTIONS, *mirror_answers.QUESTIONS)),
    ids=lambda question: question.text,
)
def test_a_question_is_asked_in_three_lines(question: Question) -> None:
    assert len(question.sql.strip().splitlines()) == 3
    assert "coordinator_log" not in question.sql


@pytest.mark.parametrize("question", OWN_QUESTIONS, ids=lambda question: question.text)
def test_a_query_can_stand_in_double_quotes_in_a_shell(question: Question) -> None:
    assert not set('"$`\\!') & set(question.sql)


def test_the_chart_is_a_picture(tables: Path, tmp_path: Path) -> None:
    draw(tables, tmp_path / "chart.png")

    assert (tmp_path / "chart.png").read_bytes().startswith(PNG)


def test_news_in_the_tables_are_told_once(tables: Path) -> None:
    board = Board(CoordinatorFigures(), 160)
    watch = TablesWatch(str(tables), board)
    watch.look()
    watch.look()
    frame = board.frame()

    figures = frame.figures
    assert (figures.offset_count, figures.expired_count, figures.deleted_count) == (108, 22, 10)
    told = [told.sentence for told in frame.told]
    assert told.count("returns-desk: 10 offsets expired.") == 1
    assert told.count("returns-desk: nothing was left of the group, its name is free again.") == 1


def test_a_group_that_lost_a_member_is_news(tables: Path) -> None:
    watch = TablesWatch(str(tables), Board(CoordinatorFigures(), 160))
    watch.look()

    assert watch.members["mobile-push"] == 3
    assert watch.members["fraud-check"] == 5


def test_tables_are_fresh_while_compaction_follows(tables: Path) -> None:
    watch = TablesWatch(str(tables), Board(CoordinatorFigures(), 160))

    assert not watch.are_fresh(COMPACTED)

    watch.look()

    assert watch.are_fresh(COMPACTED + timedelta(seconds=14))
    assert not watch.are_fresh(COMPACTED + timedelta(seconds=16))
