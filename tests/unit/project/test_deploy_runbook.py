"""deploy/runbook and the alerts of deploy/prometheus belong together, and its queries find the trouble."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import promql_parser
import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tests.support.alerts import alerts, names_in
from tests.support.all_metrics import all_names
from tests.support.group_history import GroupHistory, asked, label, tables_of
from tests.support.log_rows import EPOCH
from tests.support.runbook import first_queries, queries, sections
from tests.support.samples import sample

CLUSTER = "eu-1"
HOUR_S = 3_600
ORDERS = "orders"
LOST, AHEAD, STOPPED = 0, 1, 2
"""Partitions by their trouble."""


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
    """Tables of a cluster that has every trouble now."""
    now_s = int(time.time())
    histories = [billing(now_s), expired(now_s), committing(now_s)]
    root = tables_of(tmp_path_factory.mktemp("tables"), *histories)
    for ago_s, start in ((HOUR_S, 0), (1, 200)):
        ends = {LOST: 1_000, STOPPED: 500}
        sample(root, now_s - ago_s, ORDERS, ends, start=start, cluster_id=CLUSTER)
        sample(root, now_s - ago_s, ORDERS, {AHEAD: 3}, cluster_id=CLUSTER)
    label(root, ("bill*", "payments", None, 60), cluster_id=CLUSTER)
    add_failed_events(root, datetime.now(UTC))
    return root


def begun(group_id: str, at_s: float, **settings: Any) -> GroupHistory:
    start_ms = round((at_s - EPOCH.timestamp()) * 1_000)
    return GroupHistory(group_id, cluster_id=CLUSTER, start_ms=start_ms, **settings)


def billing(now_s: int) -> GroupHistory:
    """Its member commits two hours ago, comes back half an hour ago, and leaves."""
    group = begun("billing", now_s - 2 * HOUR_S, offsets_retention_minutes=600)
    for offsets in ({LOST: 100, AHEAD: 5, STOPPED: 310}, {}):
        [member] = group.form(topics=(ORDERS,))
        generation = group.group.membership.generation  # type: ignore[union-attr]
        if offsets:
            group.commit({ORDERS: offsets}, member, generation)
        group.leave(member)
        group.sleep(90 * 60_000)
    return group


def expired(now_s: int) -> GroupHistory:
    group = begun("weekend", now_s - 2 * HOUR_S, offsets_retention_minutes=80)
    group.commit({ORDERS: {LOST: 1_000}})
    group.sleep(2 * HOUR_S * 1_000)
    return group


def committing(now_s: int) -> GroupHistory:
    group = begun("shipping", now_s - 60)
    group.commit({ORDERS: {LOST: 1_000}})
    return group


def add_failed_events(root: Path, now: datetime) -> None:
    """An event of an internal error, and a denied request."""
    event = {"source_topic": "group-events", "source_partition": 0, "source_offset": 7}
    batch = {"cluster_id": CLUSTER, "group_id": "billing", "batch_id": 1, "ingested_at": now}
    common = {**event, **batch, "event_time": now}
    resource = {"operation": "READ", "resource_type": "GROUP", "resource_name": "billing"}
    sender = {"api": "JoinGroup", "principal": "User:anna", "client_host": "/10.0.0.1"}
    append(root / "dead_letters", {**common, "reason": "defect: KeyError: 1"})
    append(root / "denials", {**common, **resource, **sender})


def append(table: Path, row: Mapping[str, Any]) -> None:
    write_deltalake(table, pa.Table.from_pylist([dict(row)]), mode="append", schema_mode="merge")


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
