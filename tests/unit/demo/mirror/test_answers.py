from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from group_coordinator.clients import sql_tables
from group_coordinator.demo.mirror import answers
from group_coordinator.demo.question import Question
from tests.support.group_history import GroupHistory, tables_of

RETENTION = {"offsets_retention_ms": 60_000, "offsets_retention_check_interval_ms": 1_000}


def history(name: str, prefix: str) -> GroupHistory:
    return GroupHistory(
        prefix + name, cluster_id="shop", group_initial_rebalance_delay_ms=0, **RETENTION
    )


def returns_desk(prefix: str) -> GroupHistory:
    """Leaves after a second: its offsets expire a minute later, and its name with them."""
    group = history("returns-desk", prefix)
    commit(group, {0: 7, 1: 8}, *group.form())
    group.sleep(1_000)
    [member] = group.group.membership.members  # type: ignore[union-attr]
    group.leave(member)
    group.sleep(60_000)
    return group


def recommendations(prefix: str) -> GroupHistory:
    """Is set back to the first record while nobody is in it, and stays alone for a minute."""
    group = history("recommendations", prefix)
    [member] = group.form()
    commit(group, {0: 40}, member)
    group.leave(member)
    group.sleep(2_000)
    group.commit({"orders": {0: 0}})
    group.sleep(59_000)
    return group


def commit(group: GroupHistory, offsets: dict[int, int], member: str) -> None:
    generation = group.group.membership.generation  # type: ignore[union-attr]
    group.commit({"orders": offsets}, member, generation)


@pytest.fixture(params=["", "demo-1-"], ids=["own broker", "somebody's cluster"])
def prefix(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def tables(prefix: str, tmp_path: Path) -> Path:
    others = history("returns-desk", "other-") if prefix else history("billing", "")
    others.commit({"orders": {0: 3}})
    return tables_of(tmp_path, returns_desk(prefix), recommendations(prefix), others)


def at(second: int) -> datetime:
    return datetime.fromtimestamp(second, UTC)


def rows(tables: Path, prefix: str, question: Question) -> list[tuple[Any, ...]]:
    sql = answers.about(question, prefix).sql
    return [tuple(row.values()) for row in sql_tables.rows(str(tables), sql)]


def test_who_lost_what(tables: Path, prefix: str) -> None:
    assert rows(tables, prefix, answers.LOST) == [
        (at(60), f"{prefix}recommendations", "orders", 1, "offset-expired", False),
        (at(61), f"{prefix}returns-desk", "orders", 2, "offset-expired", False),
    ]


def test_who_was_set_back(tables: Path, prefix: str) -> None:
    assert rows(tables, prefix, answers.RESET) == [
        (at(2), f"{prefix}recommendations", "orders", 0, 40, 0, "reset")
    ]


def test_what_expires_next(prefix: str, tmp_path: Path) -> None:
    group = history("newsletter", prefix)
    [member] = group.form()
    commit(group, {0: 1, 1: 2}, member)
    group.sleep(5_000)
    group.leave(member)

    assert rows(tables_of(tmp_path, group), prefix, answers.NEXT) == [
        (at(65), f"{prefix}newsletter", "orders", 2)
    ]


def test_the_life_of_a_group(tables: Path, prefix: str) -> None:
    assert [row[:3] for row in rows(tables, prefix, answers.LIFE)] == [
        (at(0), "created", 0),
        (at(0), "rebalanced", 1),
        (at(1), "emptied", 0),
        (at(61), "expired", 0),
    ]


def test_when_a_group_was_set_back(tables: Path, prefix: str) -> None:
    [found] = sql_tables.rows(str(tables), answers.first_reset(f"{prefix}recommendations"))

    assert found["at"] == at(2)


@pytest.mark.parametrize("question", answers.QUESTIONS, ids=lambda question: question.text)
def test_a_query_can_stand_in_double_quotes_in_a_shell(question: Question) -> None:
    asked = [
        answers.about(question, "demo-1-").sql,
        answers.offsets_of("g"),
        answers.first_reset("g"),
    ]

    assert not set('"$`\\!') & set("".join(asked))
