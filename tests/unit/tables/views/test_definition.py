"""Views say what they are: their columns, their example, what they read."""

from __future__ import annotations

import pyarrow as pa
import pytest

from group_coordinator.clients.sql_tables import query
from group_coordinator.tables.views.all_views import VIEWS, named_in
from group_coordinator.tables.views.definition import ViewDefinition
from tests.support.group_history import GroupHistory, tables_of

TYPES = {
    pa.string(): "string",
    pa.string_view(): "string",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float64(): "double",
    pa.bool_(): "boolean",
    pa.timestamp("us", "UTC"): "timestamp",
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tables_of(tmp_path_factory.mktemp("tables")))


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_the_columns_are_those_that_the_view_says(view: ViewDefinition, tables: str) -> None:
    answer = query(tables, f"SELECT * FROM {view.name}")  # noqa: S608

    assert [(field.name, TYPES[field.type]) for field in answer.schema] == [
        (column.name, column.type) for column in view.columns
    ]


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_the_example_is_a_query(view: ViewDefinition, tables: str) -> None:
    assert view.name in view.example
    assert query(tables, view.example).num_rows == 0


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_no_window_reaches_forward(view: ViewDefinition) -> None:
    # Spark would look at all rows behind, for each row: the square of a group's history.
    assert "FOLLOWING" not in view.text


def test_a_query_is_about_the_views_behind_its_views() -> None:
    assert {"audit", "offset_changes", "coordinator_log"} <= named_in("select 1 from Audit")
    assert "offsets" not in named_in("SELECT * FROM lost_offsets")
    assert {view.name for view in VIEWS} <= named_in("SHOW TABLES")


def test_views_can_be_looked_up(tables: str) -> None:
    shown = query(tables, "SHOW TABLES").to_pylist()

    views = {row["table_name"] for row in shown if row["table_schema"] == "public"}
    assert {view.name for view in VIEWS} <= views


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> str:
    group = GroupHistory("billing", group_initial_rebalance_delay_ms=0)
    [member] = group.form()
    group.commit({"orders": {0: 1}}, member, 1)
    return str(tables_of(tmp_path_factory.mktemp("filled"), group))


OF_GROUPS = [view for view in VIEWS if "group_id" in {column.name for column in view.columns}]


@pytest.mark.parametrize("view", OF_GROUPS, ids=lambda view: view.name)
def test_a_condition_on_the_group_reaches_the_files(view: ViewDefinition, filled: str) -> None:
    sql = f"EXPLAIN SELECT * FROM {view.name} WHERE group_id = 'billing'"  # noqa: S608

    plans = query(filled, sql).to_pylist()

    [plan] = [row["plan"] for row in plans if row["plan_type"] == "physical_plan"]
    scans = [line for line in plan.splitlines() if "DataSourceExec" in line]
    by_group = [line for line in scans if "group_id" in line.partition("projection=")[2]]
    assert by_group
    assert [line for line in by_group if "group_id in (billing)" not in line] == []
