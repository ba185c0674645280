"""Views say what they are: their columns, their example, what they read."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from group_coordinator.clients.as_of_time import AsOfTime
from group_coordinator.clients.sql_tables import Session, query, session
from group_coordinator.settings import load
from group_coordinator.tables.views.all_views import VIEWS, named_in
from group_coordinator.tables.views.definition import ViewDefinition
from tests.support.extremes import add_mirrored_extremes, extreme_groups, sample_far_ends
from tests.support.group_history import GroupHistory, asked, label, tables_of
from tests.support.samples import sample

TYPES = {
    pa.string(): "string",
    pa.string_view(): "string",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float64(): "double",
    pa.bool_(): "boolean",
    pa.timestamp("us", "UTC"): "timestamp",
    pa.list_(pa.string_view()): "array<string>",
}


ALL_VIEWS = "SHOW TABLES"


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    root = tables_of(tmp_path_factory.mktemp("tables"))
    with session(str(root), ALL_VIEWS) as opened:
        yield opened


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_the_columns_are_those_that_the_view_says(view: ViewDefinition, tables: Session) -> None:
    answer = tables.sql(f"SELECT * FROM {view.name}")  # noqa: S608 - our own names

    assert [(field.name, TYPES[field.type]) for field in answer.schema] == [
        (column.name, column.type) for column in view.columns
    ]


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_the_example_is_a_query(view: ViewDefinition, tables: Session) -> None:
    assert view.name in view.example
    tables.check(view.example)
    assert tables.sql(view.example).num_rows == 0


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_no_window_reaches_forward(view: ViewDefinition) -> None:
    # Spark would look at all rows behind, for each row: the square of a group's history.
    assert "FOLLOWING" not in view.text


def test_a_query_is_about_the_views_behind_its_views() -> None:
    assert {"audit", "offset_changes", "coordinator_log"} <= named_in("select 1 from Audit")
    assert "offsets" not in named_in("SELECT * FROM lost_offsets")
    assert {view.name for view in VIEWS} <= named_in("SHOW TABLES")


def test_views_can_be_looked_up(tables: Session) -> None:
    shown = tables.sql("SHOW TABLES").to_pylist()

    views = {row["table_name"] for row in shown if row["table_schema"] == "public"}
    assert {view.name for view in VIEWS} <= views


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    group = GroupHistory("billing", group_initial_rebalance_delay_ms=0)
    [member] = group.form()
    group.commit({"orders": {0: 1}}, member, 1)
    root = tables_of(tmp_path_factory.mktemp("filled"), group)
    with session(str(root), ALL_VIEWS) as opened:
        yield opened


OF_GROUPS = [view for view in VIEWS if "group_id" in {column.name for column in view.columns}]


@pytest.mark.parametrize("view", OF_GROUPS, ids=lambda view: view.name)
def test_a_condition_on_the_group_reaches_the_files(view: ViewDefinition, filled: Session) -> None:
    sql = f"EXPLAIN SELECT * FROM {view.name} WHERE group_id = 'billing'"  # noqa: S608 - our own names

    plans = filled.sql(sql).to_pylist()

    [plan] = [row["plan"] for row in plans if row["plan_type"] == "physical_plan"]
    scans = [line for line in plan.splitlines() if "DataSourceExec" in line]
    by_group = [line for line in scans if "group_id" in line.partition("projection=")[2]]
    assert by_group
    assert [line for line in by_group if "group_id in (billing)" not in line] == []


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_an_example_that_puts_rows_together_keeps_clusters_apart(view: ViewDefinition) -> None:
    assert "GROUP BY" not in view.example or "GROUP BY cluster_id" in view.example


def ordinary_tables(root: Path, *others: GroupHistory) -> Path:
    """With one group, which read bills two days ago, and refunds just now; and its copy in another cluster."""
    group = GroupHistory("ordinary")
    [member] = group.form()
    group.commit({"bills": {0: 10}}, member, 1)
    group.leave(member)
    group.delete_offsets({"bills": [0]})
    group.commit({"bills": {0: 15}})
    group.sleep(2 * 86_400_000)
    group.commit({"refunds": {0: 1}})
    copy = GroupHistory("ordinary", cluster_id="eu-1")
    copy.commit({"refunds": {0: 0}})
    tables_of(root, group, copy, *others)
    for at_s in (1, 2 * 86_400 + 60):
        sample(root, at_s, "bills", {0: 20}, start=10)
    label(root, ("ordin*", "payments", "gold", 60), ("*", None, None, 1))
    return root


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ordinary_tables(tmp_path_factory.mktemp("alone"))


@pytest.fixture(scope="module")
def beside_extremes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = ordinary_tables(tmp_path_factory.mktemp("extremes"), *extreme_groups())
    add_mirrored_extremes(root)
    sample_far_ends(root, 2 * 86_400 + 60)
    return root


@pytest.fixture(scope="module", params=[None, 9999], ids=["now", "as-of"])
def alone_and_beside_extremes(
    request: pytest.FixtureRequest, alone: Path, beside_extremes: Path
) -> Iterator[tuple[Session, Session]]:
    year = request.param
    as_of = year and AsOfTime(datetime(year, 12, 31, tzinfo=UTC), load().coordinator)
    with (
        session(str(alone), ALL_VIEWS, as_of) as first,
        session(str(beside_extremes), ALL_VIEWS, as_of) as second,
    ):
        yield first, second


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_extremes_of_other_groups_change_no_row(
    view: ViewDefinition, alone_and_beside_extremes: tuple[Session, Session]
) -> None:
    def rows(tables: Session) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = tables.sql(f"SELECT * FROM {view.name}").to_pylist()  # noqa: S608 - our own names
        own = [
            row for row in found if row.get("group_id", row.get("topic")) in {"ordinary", "bills"}
        ]
        return sorted(own, key=str)

    expected, found = map(rows, alone_and_beside_extremes)
    assert expected
    assert found == expected


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_a_view_of_views_has_the_rows_of_a_view_of_their_rows(
    view: ViewDefinition, alone: Path
) -> None:
    sql = f"SELECT * FROM {view.name}"  # noqa: S608 - our own names
    rows = [tuple(row.values()) for row in query(str(alone), sql).to_pylist()]

    assert sorted(rows, key=str) == sorted(asked(alone, sql), key=str)
