"""A page names every table, view, command, metric and reason; the definitions decide. Settings: test_project_shape.py."""

from __future__ import annotations

import re

import pytest

from group_coordinator.cli.main import COMMANDS
from group_coordinator.core.model.records import Reason
from group_coordinator.gateway.api_versions import APIS
from group_coordinator.gateway.counters import Counters, Gauges, metrics_page
from group_coordinator.gateway.job.replica import Replica
from tests.support import package_table
from tests.support.all_metrics import all_names
from tests.support.table_pages import BEGIN, END, REFERENCE, generated, replaced

ROOT = REFERENCE.parents[1]
BRACES = re.compile(r"([^{}]*)\{([a-z_,]+)\}([^{}]*)")
METER = re.compile("kafka_server_group_coordinator_metrics_(.*)_(?:rate|count)")
SERIES = re.compile("_(?:bucket|sum|count|created)$")


def named_in(page: str) -> set[str]:
    """Texts in backticks, with one text for each word in braces."""
    found = set()
    for text in re.findall(r"`([^`\n]+)`", (ROOT / page).read_text(encoding="utf-8")):
        braces = BRACES.fullmatch(text)
        before, words, after = braces.groups() if braces else (text, "", "")
        found |= {f"{before}{word}{after}" for word in words.split(",")}
    return found


@pytest.mark.parametrize("name", generated())
def test_the_tables_and_views_are_those_of_the_definitions(name: str) -> None:
    page = (REFERENCE / name).read_text(encoding="utf-8")

    assert page.count(BEGIN) == page.count(END) == 1
    assert page == replaced(page, BEGIN, END, generated()[name]), (
        "run python -m tests.support.table_pages --write"
    )


def test_the_packages_are_those_of_the_tree() -> None:
    page = package_table.PAGE.read_text(encoding="utf-8")

    assert page.count(package_table.BEGIN) == page.count(package_table.END) == 1
    assert page == package_table.with_packages(page), (
        "run python -m tests.support.package_table --write"
    )


def test_every_command_is_in_the_table_of_commands() -> None:
    named = {text.split()[0] for text in named_in("jobs/reference/commands.md")}

    assert set(COMMANDS) - named == set()


def test_every_reason_is_in_the_table_of_reasons() -> None:
    assert {reason.value for reason in Reason} - named_in("jobs/reference/records.md") == set()


def test_every_metric_of_the_job_is_on_the_page_of_metrics() -> None:
    named = named_in("jobs/reference/metrics.md")
    endings = tuple(text.removeprefix("...") for text in named if text.startswith("..._"))

    missing = [
        name
        for name in all_names()
        if not {name, SERIES.sub("", name), METER.sub(r"\1", name)} & named
        and not name.endswith(endings)
        and not name.startswith("process_")
    ]

    assert missing == []


def test_every_metric_of_the_gateway_is_on_the_page_of_metrics() -> None:
    counters = Counters()
    counters.count_request(APIS[11], 9, None)
    counters.count_refused(APIS[11], 99)
    counters.count_answer("JoinGroup", 0.1)
    counters.closed["idle"] += 1
    figures = Replica("events", "name", lambda _id, _value: True).figures()
    lines = metrics_page(counters, Gauges(0, 0, 0, 0, 0), figures).splitlines()
    names = {SERIES.sub("", re.split("[{ ]", line)[0]) for line in lines}

    assert names - named_in("jobs/reference/metrics.md") == set()
