from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge

from group_coordinator.demo import meters
from group_coordinator.demo.meters import MetersPage, names_in, on_the_dashboard, shown_of
from group_coordinator.local.ports import LOOPBACK
from group_coordinator.observability.metrics_port import metrics_port
from tests.support import dashboard
from tests.support.all_metrics import all_names

PAGE = """\
# HELP group_coordinator_ready 1: /readyz says 200
# TYPE group_coordinator_ready gauge
group_coordinator_ready 1.0
group_coordinator_dead_letters_total 0.0
kafka_consumergroup_lag_sum{consumergroup="billing",topic="orders"} 4.0
kafka_consumergroup_lag_sum{consumergroup="sales-report",topic="orders"} 31.0
kafka_server_group_coordinator_metrics_offset_commit_count 812.0
"""


def test_some_lines_are_shown() -> None:
    assert shown_of(PAGE) == [
        "kafka_server_group_coordinator_metrics_offset_commit_count 812.0",
        'kafka_consumergroup_lag_sum{consumergroup="sales-report",topic="orders"} 31.0',
        "group_coordinator_dead_letters_total 0.0",
    ]


def test_the_dashboard_says_what_it_misses(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"Ready A": 'min(group_coordinator_ready{job="x"})', "Gone B": 'gone{job="x"}'}
    monkeypatch.setattr(meters, "queries", lambda: [*asked.items()])

    assert on_the_dashboard(PAGE) == (
        "1 of 2 queries of the dashboard find their series here, not: Gone B"
    )


def test_every_query_of_the_dashboard_is_read() -> None:
    assert [*meters.queries()] == [*dashboard.of_panels()]
    for title, query in meters.queries():
        assert names_in(query), title
        assert names_in(query) <= all_names()
    everything = "".join(f"{name} 1\n" for name in all_names())
    count = len([*dashboard.of_panels()]) - 1  # the age of the rules, which the demo's job has not
    assert on_the_dashboard(everything) == (
        f"{count} of {count} queries of the dashboard find their series here"
    )


def test_the_last_page_is_kept(tmp_path: Path) -> None:
    registry = CollectorRegistry()
    Counter("commits", "", registry=registry).inc(3)
    with ExitStack() as open_port:
        port = open_port.enter_context(metrics_port((LOOPBACK, 0), registry, lambda: None))
        page = MetersPage(f"{LOOPBACK}:{port}", tmp_path / "metrics.txt")
        assert page.last() == ""
        page.scrape()
    Gauge("later", "", registry=registry)
    page.scrape()

    assert "commits_total 3.0" in page.last()
    assert "later" not in page.last()
