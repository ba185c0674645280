"""Dashboard, alerts and Genie space of the Databricks bundle; tests/spark/test_databricks_queries.py runs their queries."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest

from group_coordinator.tables.creation import TABLES
from group_coordinator.tables.views.all_views import VIEWS
from tests.support import databricks_bundle
from tests.support.alerts import alerts

COLUMNS = 12
VERSIONS = {
    "counter": 2,
    "table": 2,
    "bar": 3,
    "line": 3,
    "filter-single-select": 2,
    "filter-multi-select": 2,
}
"""Type of a widget -> the version of its form that Databricks has."""
DASHBOARD = databricks_bundle.dashboard()
WIDGETS = databricks_bundle.widgets()
ALERTS = databricks_bundle.of_kind("alerts")
[SPACE] = databricks_bundle.of_kind("genie_spaces", catalog="main").values()
PREFIX = "main.${resources.schemas.tables.name}."


def names_in(encodings: Any) -> set[str]:
    """Fields and parameters, at any depth."""
    if isinstance(encodings, list):
        return {name for each in encodings for name in names_in(each)}
    if not isinstance(encodings, dict):
        return set()
    own = {encodings[key] for key in ("fieldName", "parameterName") if key in encodings}
    return own.union(*(names_in(each) for each in encodings.values()))


def test_the_dashboard_has_a_page_for_each_question() -> None:
    [resource] = databricks_bundle.of_kind("dashboards").values()

    assert [page["displayName"] for page in DASHBOARD["pages"]] == [
        "Groups",
        "Lag in time",
        "Lost and expiring",
        "At risk",
        "Filters",
    ]
    assert resource["dataset_schema"] == "${resources.schemas.tables.name}"
    # A bundle with run_as takes no dashboard with the credentials of its publisher.
    assert resource["embed_credentials"] is False


def test_names_on_the_dashboard_are_in_one_place() -> None:
    placed = [each["widget"]["name"] for page in DASHBOARD["pages"] for each in page["layout"]]

    assert sorted(WIDGETS) == sorted(placed)
    assert [name for name in placed if not re.fullmatch(r"[a-z-]{1,60}", name)] == []


@pytest.mark.parametrize("name", WIDGETS)
def test_a_widget_shows_the_fields_of_its_queries(name: str) -> None:
    spec, queries = WIDGETS[name]["spec"], WIDGETS[name]["queries"]
    known = {each["name"] for each in DASHBOARD["datasets"]}
    asked = [named["query"] for named in queries]
    given = {
        each["name"]
        for one in asked
        for each in (*one.get("fields", ()), *one.get("parameters", ()))
    }

    assert spec["version"] == VERSIONS[spec["widgetType"]]
    assert {one["datasetName"] for one in asked} <= known
    assert names_in(spec["encodings"]) == given
    if spec["widgetType"].startswith("filter"):
        bound = [each["queryName"] for each in spec["encodings"]["fields"]]
        assert bound == [named["name"] for named in queries]
    else:
        assert [named["name"] for named in queries] == ["main_query"]


@pytest.mark.parametrize("page", DASHBOARD["pages"], ids=lambda page: page["name"])
def test_widgets_do_not_overlap(page: dict[str, Any]) -> None:
    cells = [
        (x, y)
        for at in (each["position"] for each in page["layout"])
        for x in range(at["x"], at["x"] + at["width"])
        for y in range(at["y"], at["y"] + at["height"])
    ]

    assert page["layoutVersion"] == "GRID_V1"
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < COLUMNS


@pytest.mark.parametrize("dataset", DASHBOARD["datasets"], ids=lambda dataset: dataset["name"])
def test_the_lines_of_a_query_end(dataset: dict[str, Any]) -> None:
    *lines, last = dataset["queryLines"]

    assert [line for line in lines if not line.endswith("\n")] == []
    assert not last.endswith("\n")


def test_a_filter_reaches_every_query() -> None:
    filtered = {each["query"]["datasetName"] for each in WIDGETS["cluster"]["queries"]}

    assert filtered == {each["name"] for each in DASHBOARD["datasets"]}


def test_a_parameter_is_chosen_by_a_filter() -> None:
    wanted = {
        (dataset["name"], each["keyword"])
        for dataset in DASHBOARD["datasets"]
        for each in dataset.get("parameters", ())
    }
    chosen = {
        (named["query"]["datasetName"], each["keyword"])
        for widget in WIDGETS.values()
        for named in widget["queries"]
        for each in named["query"].get("parameters", ())
    }

    assert wanted == chosen == {("lag_history", "group_id")}


def test_alerts_have_the_names_of_prometheus_in_the_same_order() -> None:
    names = [rule["alert"] for rule in alerts()]

    assert list(ALERTS) == [name for name in names if name in ALERTS]
    assert {each["display_name"] for each in ALERTS.values()} == {
        f"group-coordinator {name}" for name in ALERTS
    }


@pytest.mark.parametrize("name", ALERTS)
def test_an_alert_leads_to_its_section_and_shows_its_rows(name: str) -> None:
    [rule] = [rule for rule in alerts() if rule["alert"] == name]
    said, url, rows = ALERTS[name]["custom_description"].rsplit(" ", 2)

    assert said.endswith(".")
    assert url == rule["annotations"]["runbook_url"]
    assert rows == "{{QUERY_RESULT_TABLE}}"


@pytest.mark.parametrize("alert", ALERTS.values(), ids=ALERTS)
def test_any_row_triggers_an_alert(alert: dict[str, Any]) -> None:
    evaluation = alert["evaluation"]

    assert evaluation["source"] == {"name": "cluster_id", "aggregation": "COUNT"}
    assert evaluation["comparison_operator"] == "GREATER_THAN"
    assert evaluation["threshold"] == {"value": {"double_value": 0}}
    assert evaluation["empty_result_state"] == "OK"


def test_genie_learns_from_the_views_examples() -> None:
    found = databricks_bundle.genie_queries("main", "schema")

    assert {question: sql.replace("main.schema.", "") for question, sql in found.items()} == {
        view.answers: view.example for view in VIEWS
    }
    asked = {
        each["question"][0] for each in SPACE["serialized_space"]["config"]["sample_questions"]
    }
    assert asked < set(found)


def test_genie_knows_tables_that_there_are() -> None:
    tables = [each["identifier"] for each in SPACE["serialized_space"]["data_sources"]["tables"]]
    names = {each.removeprefix(PREFIX) for each in tables}

    assert {view.name for view in VIEWS} < names < {each.name for each in (*TABLES, *VIEWS)}
    # More were an error once, and the order is one.
    assert len(tables) <= 25
    assert tables == sorted(tables)


def test_genies_ids_are_in_the_form_and_order_that_it_takes() -> None:
    space = SPACE["serialized_space"]
    parts = [
        space["config"]["sample_questions"],
        space["instructions"]["text_instructions"],
        space["instructions"]["example_question_sqls"],
    ]
    ids = [[each["id"] for each in part] for part in parts]

    assert all(re.fullmatch("[0-9a-f]{32}", each) for part in ids for each in part)
    assert all(first < second for part in ids for first, second in pairwise(part))
    assert len(parts[1]) == 1
