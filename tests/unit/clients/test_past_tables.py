"""The tables as they were: each answer is the one that would have been given then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from group_coordinator.clients.as_of_time import AsOfTime
from group_coordinator.clients.sql_tables import query
from group_coordinator.clients.table_folder import TableFolder
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.tables.views.all_views import VIEWS
from tests.support.group_history import GroupHistory, at, tables_of
from tests.support.samples import sample

SETTINGS = {"offsets_retention_ms": 60_000, "offsets_retention_check_interval_ms": 10_000}
KEPT = ("groups", "members", "offsets", "group_configs", *(view.name for view in VIEWS))


def living() -> GroupHistory:
    return GroupHistory("billing", **SETTINGS)


def first_part(group: GroupHistory) -> None:
    """Until second 10: a member, offsets, a setting, an open transaction."""
    group.principal = "User:billing"
    [member] = group.form()
    generation = group.group.membership.generation  # type: ignore[union-attr]
    group.commit({"orders": {0: 10, 1: 20}, "refunds": {0: 5}}, member, generation)
    group.alter_configs({"offsets.retention.ms": "30000"})
    group.commit_in_transaction(17, "orders", 1, 99)
    group.at(10_000)


def second_part(group: GroupHistory) -> None:
    """From then on: the transaction ends, all is lost, and the name is used again."""
    group.sleep(1)
    group.end_transaction(17, is_commit=True)
    group.alter_configs({"offsets.retention.ms": None})
    group.delete_offsets({"refunds": [0]})
    group.sleep(200_000)
    group.commit({"orders": {0: 7}})


def first_samples(root: Path) -> None:
    """Until second 10: the group has read everything, and then it has not."""
    sample(root, 4, "orders", {0: 10, 1: 20})
    sample(root, 10, "orders", {0: 40, 1: 20})


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, CoordinatorConfig]:
    group = living()
    first_part(group)
    second_part(group)
    root = tables_of(tmp_path_factory.mktemp("whole"), group)
    first_samples(root)
    sample(root, 11, "orders", {0: 90, 1: 90})
    sample(root, 300, "refunds", {0: 80})
    return str(root), group.config


@pytest.fixture(scope="module")
def then(tmp_path_factory: pytest.TempPathFactory) -> str:
    group = living()
    first_part(group)
    root = tables_of(tmp_path_factory.mktemp("then"), group)
    first_samples(root)
    return str(root)


def rows(root: str, sql: str, as_of_time: AsOfTime | None = None) -> list[dict[str, Any]]:
    return sorted(query(root, sql, as_of_time).to_pylist(), key=str)


@pytest.mark.parametrize(
    "name", [*KEPT, "coordinator_log", "dead_letters", "topic_positions", "writers"]
)
def test_tables_are_as_they_were(
    whole: tuple[str, CoordinatorConfig], then: str, name: str
) -> None:
    root, config = whole
    everything = f"SELECT * FROM {name}"  # noqa: S608 - names of our own

    assert rows(root, everything, AsOfTime(at(10), config)) == rows(then, everything)


def test_it_differs_from_what_is_now(whole: tuple[str, CoordinatorConfig]) -> None:
    root, config = whole
    sql = "SELECT topic, `partition`, committed_offset FROM offsets"

    assert [tuple(row.values()) for row in rows(root, sql)] == [("orders", 0, 7)]
    assert [tuple(row.values()) for row in rows(root, sql, AsOfTime(at(10), config))] == [
        ("orders", 0, 10),
        ("orders", 1, 20),
        ("refunds", 0, 5),
    ]
    assert rows(root, "SELECT value FROM group_configs", AsOfTime(at(10), config)) == [
        {"value": "30000"}
    ]


def test_a_moment_has_its_own_records(whole: tuple[str, CoordinatorConfig]) -> None:
    root, config = whole
    sql = "SELECT count(*) AS lost FROM lost_offsets"

    assert rows(root, sql, AsOfTime(at(10), config)) == [{"lost": 0}]
    assert rows(root, sql, AsOfTime(at(10.001), config)) == [{"lost": 1}]


def test_lag_of_then_is_that_of_the_samples_of_then(whole: tuple[str, CoordinatorConfig]) -> None:
    root, config = whole
    sql = "SELECT topic, `partition`, lag, lag_seconds FROM lag JOIN time_lag USING (topic, `partition`)"

    def asked(seconds: float) -> list[tuple[Any, ...]]:
        return [tuple(row.values()) for row in rows(root, sql, AsOfTime(at(seconds), config))]

    assert asked(4) == [("orders", 0, 0, 0.0), ("orders", 1, 0, 0.0), ("refunds", 0, None, None)]
    assert asked(10) == [("orders", 0, 30, 6.0), ("orders", 1, 0, 0.0), ("refunds", 0, None, None)]
    assert asked(400) == [("orders", 0, 83, 7.0), ("orders", 1, None, None)]


def test_before_the_first_record_there_is_nothing(whole: tuple[str, CoordinatorConfig]) -> None:
    root, config = whole

    assert rows(root, "SELECT * FROM groups", AsOfTime(at(-1), config)) == []
    assert rows(root, "SELECT * FROM group_timeline", AsOfTime(at(-1), config)) == []


def test_groups_of_several_clusters(tmp_path: Path) -> None:
    here, there = living(), GroupHistory("billing", cluster_id="there", **SETTINGS)
    here.commit({"orders": {0: 1}})
    there.commit({"orders": {0: 2}})
    there.sleep(1_000)
    there.delete()
    root = str(tables_of(tmp_path, here, there))

    sql = "SELECT cluster_id, committed_offset FROM offsets"
    assert rows(root, sql) == [{"cluster_id": "test", "committed_offset": 1}]
    assert rows(root, sql, AsOfTime(at(0), here.config)) == [
        {"cluster_id": "test", "committed_offset": 1},
        {"cluster_id": "there", "committed_offset": 2},
    ]
    assert rows(root, sql, AsOfTime(at(0), here.config, "cluster_id = 'there'")) == [
        {"cluster_id": "there", "committed_offset": 2}
    ]


def test_it_is_asked_as_spark_is(tmp_path: Path) -> None:
    billing = GroupHistory("billing")
    billing.commit({"orders": {0: 42}})
    tables = TableFolder(str(tables_of(tmp_path, billing)))

    answer = tables.sql("SELECT group_id, committed_offset FROM offsets")

    assert answer.toArrow().to_pylist() == [{"group_id": "billing", "committed_offset": 42}]
    assert answer.toPandas().committed_offset.tolist() == [42]


def test_each_question_is_about_what_is_so_then(tmp_path: Path) -> None:
    tables = TableFolder(str(tables_of(tmp_path)))
    assert tables.sql("SELECT * FROM groups").toPandas().empty

    billing = GroupHistory("billing")
    billing.commit({"orders": {0: 42}})
    tables_of(tmp_path, billing)

    assert tables.sql("SELECT group_id FROM groups").toPandas().group_id.tolist() == ["billing"]
