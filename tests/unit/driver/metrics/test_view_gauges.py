from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pyarrow as pa
import pytest
from prometheus_client.parser import text_string_to_metric_families

from group_coordinator import settings
from group_coordinator.clients.errors import QueryError
from group_coordinator.driver.metrics.table_gauges import TableGauges, table_asker
from group_coordinator.driver.metrics.view_gauges import ViewGauges, risk_families, status_families
from group_coordinator.driver.session import text_of
from tests.support.dashboard import MIRRORS, filled_in, of_panels
from tests.support.promql import Scrape, Scraped
from tests.support.samples import sample, tables_with_figures
from tests.unit.driver.metrics.scraped import in_text, shown

OF = "kafka_consumergroup"
LOSS, STOP, OK = 0, 1, 7


def partition(group: str, topic: str, number: int, **figures: Any) -> dict[str, Any]:
    return {"group_id": group, "topic": topic, "partition": number, **figures}


STATES = [
    partition("a", "orders", 0, rank=OK, lag_seconds=0.0),
    partition("a", "orders", 1, rank=STOP, lag_seconds=90.5),
    partition("a", "bills", 0, rank=LOSS, lag_seconds=30.0),
    partition("b", "orders", 0, rank=None, lag_seconds=None),
]


def test_status_and_lag_in_time_of_each_partition() -> None:
    assert shown(status_families(STATES, "partition")) == {
        f'{OF}_lag_seconds{{consumergroup="a",partition="0",topic="orders"}}': 0,
        f'{OF}_lag_seconds{{consumergroup="a",partition="1",topic="orders"}}': 90.5,
        f'{OF}_lag_seconds{{consumergroup="a",partition="0",topic="bills"}}': 30,
        f'{OF}_lag_seconds_max{{consumergroup="a",topic="orders"}}': 90.5,
        f'{OF}_lag_seconds_max{{consumergroup="a",topic="bills"}}': 30,
        f'{OF}_status{{consumergroup="a",status="LOSS"}}': 1,
        f'{OF}_partition_status{{consumergroup="a",partition="0",status="OK",topic="orders"}}': 1,
        f'{OF}_partition_status{{consumergroup="a",partition="1",status="STOP",topic="orders"}}': 1,
        f'{OF}_partition_status{{consumergroup="a",partition="0",status="LOSS",topic="bills"}}': 1,
    }


def test_status_and_lag_in_time_of_each_group() -> None:
    rows = [{"group_id": 'a"\n\\', "rank": STOP, "lag_seconds": 90.5}]

    text = "".join(
        f"{name} {number}\n" for name, number in shown(status_families(rows, "group")).items()
    )
    parsed = [each for family in text_string_to_metric_families(text) for each in family.samples]

    assert [(each.name, each.labels, each.value) for each in parsed] == [
        (f"{OF}_lag_seconds_max", {"consumergroup": 'a"\n\\'}, 90.5),
        (f"{OF}_status", {"consumergroup": 'a"\n\\', "status": "STOP"}, 1),
    ]


def test_the_next_loss_of_a_topic_is_that_of_its_first_partition() -> None:
    rows = [
        partition("a", "orders", 0, seconds_to_loss=7200.0),
        partition("a", "orders", 1, seconds_to_loss=0.0),
        partition("a", "orders", 2, seconds_to_loss=None),
    ]

    assert shown(risk_families(rows, "partition")) == {
        f'{OF}_seconds_to_loss{{consumergroup="a",partition="0",topic="orders"}}': 7200,
        f'{OF}_seconds_to_loss{{consumergroup="a",partition="1",topic="orders"}}': 0,
        f'{OF}_seconds_to_loss_min{{consumergroup="a",topic="orders"}}': 0,
    }


class Views:
    """Each view has a group, unless it is missing."""

    def __init__(self, *missing: str) -> None:
        self.missing = {*missing}
        self.read: list[str] = []

    def ask(self, query: str) -> pa.Table:
        names = ("partition_status", "at_risk", "expiring_soon", "objectives", "coordinator_log")
        [name] = [name for name in names if f"FROM {name} " in query]
        self.read.append(name)
        if name in self.missing:
            raise QueryError(f"table '{name}' not found")
        row = {"group_id": "a", "topic": "t", "partition": 0, "rank": OK, "lag_seconds": 1.0}
        return pa.Table.from_pylist([{**row, "seconds_to_loss": 2.0, "number": 3}])


def test_a_view_that_fails_changes_no_gauges_of_others(caplog: pytest.LogCaptureFixture) -> None:
    views = Views("at_risk", "objectives")
    gauges = ViewGauges(views.ask, "group")
    gauges.read(Event())

    assert in_text(gauges.text()) == {
        f'{OF}_lag_seconds_max{{consumergroup="a"}}': 1,
        f'{OF}_status{{consumergroup="a",status="OK"}}': 1,
        f'{OF}_expiring_offsets{{consumergroup="a"}}': 3,
        f'{OF}_rebalances_last_hour{{consumergroup="a"}}': 3,
    }
    assert {name.partition("=")[2] for name in shown(gauges.families())} == {
        '"partition_status"}',
        '"expiring_soon"}',
        '"rebalances"}',
    }
    assert caplog.messages == [
        "the metrics of the view at_risk are not complete: table 'at_risk' not found",
        "the metrics of the view objectives are not complete: table 'objectives' not found",
    ]


def test_a_slow_view_waits_longer_than_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s, views = [0.0], Views()
    monkeypatch.setattr(time, "monotonic", lambda: now_s[0])

    def ask(query: str) -> pa.Table:
        now_s[0] += 60 if "FROM objectives " in query else 1
        return views.ask(query)

    gauges, ended = ViewGauges(ask, "group"), Event()
    gauges.read(ended)
    # 1 s is 5 % of 20 s for the status, and 1 % of 100 s for the other views.
    for at_s in (70, 110):
        now_s[0] = at_s
        views.read.clear()
        gauges.read(ended)

    assert views.read == ["partition_status", "at_risk", "expiring_soon", "coordinator_log"]
    ages = shown(gauges.families())
    assert ages['group_coordinator_view_age_seconds{view="objectives"}'] == 114 - 64


def test_an_end_and_granularity_none_read_nothing() -> None:
    ended, views = Event(), Views()
    ViewGauges(views.ask, "none").read(ended)
    ended.set()
    ViewGauges(views.ask, "group").read(ended)

    assert views.read == []


def test_views_of_tables_on_a_disk_are_read_of_one_cluster(tmp_path: Path) -> None:
    root = tables_with_figures(tmp_path, round(time.time()))
    job = replace(settings.load().job, tables_root=str(root), cluster_id="test")
    spark: Any = None

    gauges = ViewGauges(table_asker(spark, job), "topic")
    gauges.read(Event())

    assert in_text(gauges.text()) == {
        f'{OF}_lag_seconds_max{{consumergroup="billing",topic="orders"}}': 600,
        f'{OF}_status{{consumergroup="billing",status="OK"}}': 1,
        f'{OF}_expiring_offsets{{consumergroup="billing",topic="orders"}}': 2,
        f'{OF}_rebalances_last_hour{{consumergroup="readers"}}': 1,
        f'{OF}_objective_met_ratio{{consumergroup="billing"}}': 0,
    }


def test_the_dashboard_of_mirrored_clusters_has_a_number_for_each_query(tmp_path: Path) -> None:
    # Before now, as an age is never negative; all samples are in one minute, of which objectives have one figure.
    now_s = int(time.time()) // 60 * 60 - 10
    root = tables_with_figures(tmp_path, now_s)
    # Retention removes the first records that the group has not read.
    sample(root, now_s + 1, "orders", {0: 100}, start=50)
    job = replace(settings.load().job, tables_root=str(root), cluster_id="test")
    spark: Any = None
    ask = table_asker(spark, job)
    lags, views = TableGauges(ask, "topic", dict), ViewGauges(ask, "topic")
    lags.read()
    views.read(Event())

    text = (lags.text() + views.text() + text_of([*lags.families(), *views.families()])).decode()
    scraped = Scraped([Scrape.of(text, float(now_s), job="mirror", instance="eu-1")])
    found = {title: scraped.answer(filled_in(query)) for title, query in of_panels(MIRRORS)}

    numbers = {title.removesuffix(" A"): [*values.values()] for title, values in found.items()}
    for age in ("Ends of topics sampled", "Views read"):
        assert 0 <= numbers.pop(age)[0] < 600
    assert numbers == {
        "Mirrors ready": [],  # a figure of the run, not of the tables
        "Groups with lag": [1],
        "Groups not OK": [1],
        "Records behind": [50],
        "Records lost": [8],
        "Expire within a day": [2],
        "Groups by status": [1],
        "Time behind": [1],
        "Records behind by group": [50],
        "Rebalances of the last hour": [1],
        "Records lost by group": [8],
        "Unread share of the log": [1],
        # The other group is subscribed, and has committed nothing.
        "Time to the next loss": [0, 0],
        "Offsets that expire within a day": [2],
        "Objective met today": [0],
    }
