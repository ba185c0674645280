"""The metrics page of the demo's job, and a check that it has the series of the dashboard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import json

from group_coordinator.demo.cast import SALES_REPORT
from group_coordinator.demo.pages import page_at

DASHBOARD = Path(__file__).parents[3] / "deploy" / "grafana" / "group-coordinator.json"
"""The dashboard of a checkout; a wheel has none."""
# Prefixes of lines that need no explanation.
_SHOWN = (
    "kafka_server_group_coordinator_metrics_offset_commit_count",
    "kafka_server_group_coordinator_metrics_offset_expiration_count",
    "kafka_server_group_coordinator_metrics_offset_deletion_count",
    "kafka_server_group_coordinator_metrics_group_completed_rebalance_count",
    "kafka_server_group_coordinator_metrics_consumer_group_rebalance_count",
    f'kafka_consumergroup_lag_sum{{consumergroup="{SALES_REPORT.group_id}"',
    "group_coordinator_last_batch_seconds",
    "group_coordinator_dead_letters_total",
)
_SERIES = re.compile(r"^(\w+)[{ ]", re.MULTILINE)
# The dashboard selects every series with labels.
_ASKED = re.compile(r"(\w+)\{")

# Present only in a job with ACLs, which the demo's job has not.
_OF_RULES = "group_coordinator_acls_age_seconds"


class MetersPage:
    """The page of a job's port.

    Args:
        address: metrics.listen of the job.
        file: keeps the page that was read last.
    """

    def __init__(self, address: str, file: Path) -> None:
        self.address = address
        self.url = f"http://{address}/metrics"
        self._file = file

    def scrape(self) -> None:
        """Read the page now, if the job responds."""
        page = page_at(self.url)
        if page is not None:
            self._file.write_text(page, encoding="utf-8")

    def last(self) -> str:
        """Return the page that was read last; empty: there was no response."""
        return self._file.read_text(encoding="utf-8") if self._file.exists() else ""


def shown_of(page: str) -> list[str]:
    """Return selected lines of the page."""
    lines = page.splitlines()
    return [line for begin in _SHOWN for line in lines if line.startswith(begin)]


def on_the_dashboard(page: str) -> str:
    """Return the number of the dashboard's queries that find all their series on a page, and the titles of the others."""
    there = set(_SERIES.findall(page))
    asked = {title: query for title, query in queries() if _OF_RULES not in names_in(query)}
    without = [title for title, query in asked.items() if not names_in(query) <= there]
    found = f"{len(asked) - len(without)} of {len(asked)} queries of the dashboard find their series here"
    return f"{found}, not: {', '.join(without)}" if without else found


def queries() -> Iterator[tuple[str, str]]:
    """Yield title, letter and query of each line of the dashboard's panels."""
    dashboard: Any = json.decode(DASHBOARD.read_bytes())
    for panel in dashboard["panels"]:
        for target in panel.get("targets", ()):
            yield f"{panel['title']} {target['refId']}", target["expr"]


def names_in(query: str) -> set[str]:
    """Return the series that a query of the dashboard reads."""
    return set(_ASKED.findall(query))
