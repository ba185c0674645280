"""deploy/runbook and the alerts of deploy/prometheus belong together, and its queries find the trouble."""

from __future__ import annotations

import time
from pathlib import Path

import promql_parser
import pytest

from tests.support.alerts import alerts, names_in
from tests.support.all_metrics import all_names
from tests.support.group_history import asked
from tests.support.runbook import first_queries, queries, sections
from tests.support.troubled import AHEAD, CLUSTER, LOST, ORDERS, STOPPED, troubled_tables


def test_each_alert_has_a_section_in_the_same_order() -> None:
    assert [alert for alert, _ in sections()] == [rule["alert"] for rule in alerts()]


def test_each_alert_names_its_section() -> None:
    """An anchor of the site is the heading in small letters."""
    assert {rule["alert"]: rule["annotations"]["runbook_url"] for rule in alerts()} == {
        alert: f"https://docs.example.com/deploy/runbook/#{alert.lower()}"
        for alert, _ in sections()
    }


@pytest.mark.parametrize(("alert", "text"), sections())
def test_a_section_has_a_meaning_then_a_query_then_steps(alert: str, text: str) -> None:
    meaning, _, rest = text.partition("```")

    assert meaning.strip(), alert
    assert rest.rpartition("```")[2].strip().startswith("1. ")


@pytest.mark.parametrize(("alert", "query"), queries("promql"))
def test_the_job_has_the_metrics_of_a_query(alert: str, query: str) -> None:
    assert promql_parser.parse(query), alert
    assert names_in(query) <= all_names()


@pytest.fixture(scope="module")
def troubled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return troubled_tables(tmp_path_factory.mktemp("tables"), int(time.time()))


@pytest.mark.parametrize(("alert", "query"), queries("sql"))
def test_a_query_finds_the_trouble(troubled: Path, alert: str, query: str) -> None:
    assert asked(troubled, query), alert


@pytest.mark.parametrize(
    ("alert", "found"),
    [
        ("GroupCoordinatorDefects", (CLUSTER, "billing", "defect: KeyError: 1")),
        ("GroupCoordinatorAclsOld", ("User:anna", "READ", "GROUP", "billing", 1)),
        ("OffsetsExpired", (CLUSTER, "weekend", ORDERS, 1)),
        ("GroupLagGrows", (ORDERS, LOST, 100, 1_000, 800)),
        ("GroupStopped", (ORDERS, STOPPED, "STOP", 310, 190)),
        ("GroupOffsetsExpire", (ORDERS, LOST, 100)),
        ("GroupLosesRecords", (ORDERS, LOST, 100, 200, 100, 800)),
        ("GroupRecordsAtRisk", (ORDERS, LOST, 800, 1.0, 0.0)),
        ("GroupAheadOfLog", ("billing", ORDERS, AHEAD, 5, 3, 2)),
        ("GroupWithoutMembers", ("Empty", 0)),
    ],
)
def test_the_trouble_is_in_the_first_row(
    troubled: Path, alert: str, found: tuple[object, ...]
) -> None:
    first, *_ = asked(troubled, first_queries()[alert])

    assert first[: len(found)] == found
