"""What deploy/ asks of Prometheus is what the job shows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml

from tests.support.all_metrics import all_names

DEPLOY = Path(__file__).parents[3] / "deploy"
DASHBOARD = DEPLOY / "grafana" / "group-coordinator.json"
RULES = DEPLOY / "prometheus" / "group-coordinator.rules.yaml"
PROMETHEUS_OWN = {"up"}
LABEL_VALUES = re.compile(r"label_values\((?P<selector>.+), \w+\)")


def of_panels() -> Iterator[tuple[str, str]]:
    for panel in json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]:
        for target in panel.get("targets", ()):
            yield f"{panel['title']} {target['refId']}", target["expr"]


def of_variables() -> Iterator[tuple[str, str]]:
    for variable in json.loads(DASHBOARD.read_text(encoding="utf-8"))["templating"]["list"]:
        if variable["type"] == "query":
            found = LABEL_VALUES.fullmatch(variable["query"]["query"])
            assert found is not None
            yield variable["name"], found["selector"]


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


QUESTIONS = [*of_panels(), *of_variables(), *((rule["alert"], rule["expr"]) for rule in rules())]


def names_in(expression: str) -> set[str]:
    """The metrics that it reads; Grafana fills in the times."""
    text = re.sub(r"\$__(rate_interval|range)", "5m", expression)
    return set(_names(promql_parser.parse(text)))


def _names(parsed: Any) -> Iterator[str]:
    if isinstance(parsed, promql_parser.VectorSelector):
        assert parsed.name is not None
        yield parsed.name
    for part in ("expr", "lhs", "rhs", "vector_selector"):
        if getattr(parsed, part, None) is not None:
            yield from _names(getattr(parsed, part))
    for argument in getattr(parsed, "args", ()):
        yield from _names(argument)


@pytest.mark.parametrize(("title", "expression"), QUESTIONS)
def test_the_job_shows_what_is_asked_for(title: str, expression: str) -> None:
    names = names_in(expression)

    assert names, title
    assert names - all_names() - PROMETHEUS_OWN == set()


def test_an_alert_says_what_it_means_and_what_to_do() -> None:
    found = rules()

    assert len({rule["alert"] for rule in found}) == len(found)
    for rule in found:
        assert rule["labels"]["severity"] in {"critical", "warning", "info"}
        assert {"summary", "description"} == set(rule["annotations"])


def test_every_panel_of_the_dashboard_has_a_place_of_its_own() -> None:
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    places = [
        (x, y)
        for panel in panels
        for at in [panel["gridPos"]]
        for x in range(at["x"], at["x"] + at["w"])
        for y in range(at["y"], at["y"] + at["h"])
    ]

    assert len(set(places)) == len(places)
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert max(x for x, _ in places) < 24
