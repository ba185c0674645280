"""What deploy/ asks of Prometheus is what the job shows."""

from __future__ import annotations

import re

import promql_parser
import pytest
import yaml

from group_coordinator.gateway.job.replica import Replica
from tests.support.alerts import PROMETHEUS, alerts, names_in, rules
from tests.support.all_metrics import all_names
from tests.support.dashboard import DASHBOARDS, JOB, of_panels, of_variables, panels
from tests.support.promql import Scrape, Scraped

OF_GATEWAYS = {
    f"group_coordinator_gateway_{name}"
    for name in Replica("events", "name", lambda _id, _value: True).figures()
}
PROMETHEUS_OWN = {"up", *(rule["record"] for rule in rules() if "record" in rule)}
"""Series that the job does not have: Prometheus makes them."""


QUESTIONS = [
    *((f"{each}: {title}", query) for each in DASHBOARDS for title, query in of_panels(each)),
    *((f"{each}: ${name}", query) for each in DASHBOARDS for name, query, _ in of_variables(each)),
    *((rule.get("alert", "recorded"), rule["expr"]) for rule in rules()),
]


@pytest.mark.parametrize(("title", "expression"), QUESTIONS)
def test_the_job_shows_what_is_asked_for(title: str, expression: str) -> None:
    names = names_in(expression)

    assert names, title
    assert names - all_names() - OF_GATEWAYS - PROMETHEUS_OWN == set()


def test_an_alert_says_what_it_means_and_what_to_do() -> None:
    found = alerts()

    assert len({rule["alert"] for rule in found}) == len(found)
    for rule in found:
        assert rule["labels"]["severity"] in {"critical", "warning", "info"}
        assert {"summary", "description", "runbook_url"} == set(rule["annotations"])


def test_groups_of_one_name_in_two_clusters_are_not_taken_for_one() -> None:
    """Each cluster has a job, or a mirror, and so an instance of its own."""
    kept = [words for rule in rules() for words in re.findall(r"(?:by|on) \((.*?)\)", rule["expr"])]

    assert [words for words in kept if "instance" not in words] == []
    assert "instance, consumergroup" in kept


def test_keda_scales_by_metrics_that_the_job_has() -> None:
    """The fields that KEDA requires of a ScaledObject and of its trigger prometheus, whose metadata are texts."""
    scaled = yaml.safe_load((PROMETHEUS / "keda.yaml").read_text(encoding="utf-8"))

    assert (scaled["apiVersion"], scaled["kind"]) == ("keda.sh/v1alpha1", "ScaledObject")
    assert scaled["metadata"]["name"]
    spec = scaled["spec"]
    assert spec["scaleTargetRef"]["name"]
    assert 0 < spec["minReplicaCount"] <= spec["fallback"]["replicas"] <= spec["maxReplicaCount"]
    for trigger in spec["triggers"]:
        metadata = trigger["metadata"]
        assert trigger["type"] == "prometheus"
        assert trigger.get("metricType", "AverageValue") in {"AverageValue", "Value"}
        assert {*metadata} == {"serverAddress", "query", "threshold", "ignoreNullValues"}
        assert all(isinstance(text, str) for text in metadata.values())
        assert float(metadata["threshold"]) > 0
        # One number, and not a series for each topic.
        assert isinstance(promql_parser.parse(metadata["query"]), promql_parser.AggregateExpr)
        assert names_in(metadata["query"]) <= all_names()


def test_alertmanager_sends_alerts_to_owners_when_they_open_and_close() -> None:
    """The fields that Alertmanager requires: a receiver of the root, receivers that exist, matchers NAME = "VALUE"."""
    config = yaml.safe_load((PROMETHEUS / "alertmanager.yaml").read_text(encoding="utf-8"))
    root = config["route"]
    receivers = {receiver.pop("name"): receiver for receiver in config["receivers"]}

    assert {root["receiver"], *(route["receiver"] for route in root["routes"])} == {*receivers}
    matchers = [matcher for route in root["routes"] for matcher in route["matchers"]]
    parsed = [re.fullmatch(r'(\w+) (?:=~?|!=|!~) "[^"]+"', matcher) for matcher in matchers]
    assert {found and found[1] for found in parsed} == {"owner", "severity"}
    of_groups = [rule for rule in alerts() if "$labels.consumergroup" in str(rule)]
    assert len(of_groups) == 9
    assert [rule for rule in of_groups if "group_left (owner, tier)" not in rule["expr"]] == []
    sent = [each for kinds in receivers.values() for kind in kinds.values() for each in kind]
    assert len(sent) == len(receivers)
    assert all(each["send_resolved"] is True for each in sent)


REMOVALS = """
# TYPE kafka_consumergroup_lost_sum gauge
kafka_consumergroup_lost_sum{consumergroup="late",topic="orders"} 24
kafka_consumergroup_lost_sum{consumergroup="late",topic="bills"} 1
kafka_consumergroup_lost_sum{consumergroup="near",topic="orders"} 0
# TYPE kafka_consumergroup_used_up_max gauge
kafka_consumergroup_used_up_max{consumergroup="late",topic="orders"} 1
kafka_consumergroup_used_up_max{consumergroup="near",topic="orders"} 0.81
kafka_consumergroup_used_up_max{consumergroup="reader",topic="orders"} 0.8
kafka_consumergroup_used_up_max{consumergroup="streams",topic="app-repartition"} 1
"""


@pytest.mark.parametrize(
    ("alert", "firing"),
    [("GroupLosesRecords", {"late": 25}), ("GroupRecordsAtRisk", {"late": 1, "near": 0.81})],
)
def test_an_alert_fires_of_groups_whose_unread_records_are_removed(
    alert: str, firing: dict[str, float]
) -> None:
    [rule] = [rule for rule in alerts() if rule["alert"] == alert]
    # The condition, joined with the labels of its groups.
    above = promql_parser.parse(rule["expr"]).lhs.expr
    found = Scraped([Scrape.of(REMOVALS, 0.0, instance="a")]).answer(above.lhs.prettify())

    by_group = {dict(labels)["consumergroup"]: number for labels, number in found.items()}
    assert str(above.op) == ">"
    assert {group: n for group, n in by_group.items() if n > above.rhs.val} == firing


def test_nor_does_the_dashboard() -> None:
    lines = [target for panel in panels(JOB) for target in panel.get("targets", ())]
    of_groups = [line for line in lines if "consumergroup" in line["expr"]]

    kept = [re.search(r"by \((.*?)\)", line["expr"])[1] for line in of_groups]  # type: ignore[index]
    assert kept == [
        "instance, consumergroup",
        "instance, consumergroup, topic",
        "instance, consumergroup",
        "instance, consumergroup",
    ]
    assert [line["legendFormat"] for line in of_groups] == [
        "{{instance}} {{consumergroup}}",
        "{{instance}} {{consumergroup}} {{topic}}",
        "{{instance}} {{consumergroup}}",
        "{{instance}} {{consumergroup}}",
    ]


@pytest.mark.parametrize("dashboard", DASHBOARDS)
def test_every_panel_of_a_dashboard_has_a_place_of_its_own(dashboard: str) -> None:
    shown = panels(dashboard)
    places = [
        (x, y)
        for panel in shown
        for at in [panel["gridPos"]]
        for x in range(at["x"], at["x"] + at["w"])
        for y in range(at["y"], at["y"] + at["h"])
    ]

    assert len(set(places)) == len(places)
    assert len({panel["id"] for panel in shown}) == len(shown)
    assert max(x for x, _ in places) < 24
