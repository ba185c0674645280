"""Names of this project on the page for users of other programs: metrics, views, settings, options, alerts."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from group_coordinator.cli.main import COMMANDS, LazyGroup
from group_coordinator.settings import keys_given
from group_coordinator.tables.creation import TABLES
from group_coordinator.tables.views.all_views import VIEWS
from tests.support.alerts import alerts
from tests.support.all_metrics import all_names

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "deploy" / "coming-from" / "README.md"
CONF = ROOT / "conf" / "coordinator.toml"
TEXT = PAGE.read_text(encoding="utf-8")
PATHS = {"/metrics", "/healthz", "/readyz"}
"""tests/unit/observability tests them."""


def here() -> list[tuple[str, str, str]]:
    """The three cells of each row, without headings."""
    rows = re.findall(r"^\| (.*?) \| (.*?) ?\| (.*?) ?\|$", TEXT, re.MULTILINE)
    return [row for row in rows if row[1] != "here"]


def columns() -> set[str]:
    of_views = {f"{view.name}.{column.name}" for view in VIEWS for column in view.columns}
    return of_views | {f"{table.name}.{column.name}" for table in TABLES for column in table.schema}


def options() -> set[str]:
    group = LazyGroup()
    commands = [group.get_command(click.Context(group), name) for name in ("mirror", "labels")]
    return {
        option for command in commands if command for each in command.params for option in each.opts
    }


KNOWN = {
    *(*all_names(), *PATHS, *columns(), *options(), *keys_given(CONF)),
    *(view.name for view in VIEWS),
    *(table.name for table in TABLES),
    *(rule["alert"] for rule in alerts()),
    *(f"group-coordinator {command}" for command in COMMANDS),
}


def test_there_is_a_table_for_each_program() -> None:
    programs = ["Burrow", "kafka-lag-exporter", "KMinion", "kafka_exporter"]

    assert re.findall(r"^\| (.*) \| here \| difference \|$", TEXT, re.MULTILINE) == programs
    assert re.findall(r"^## (.*)$", TEXT, re.MULTILINE)[1:] == programs
    assert len(here()) > 50


@pytest.mark.parametrize("row", here(), ids=lambda row: row[0])
def test_a_name_of_this_project_exists(row: tuple[str, str, str]) -> None:
    there, names, difference = row

    assert names or difference, there
    assert [name for name in re.split(r", ", names) if name.strip("`") not in KNOWN | {""}] == []


def test_so_does_a_name_in_the_text() -> None:
    """Names of other programs are in the first cell only."""
    text = TEXT
    for there, _, _ in here():
        text = text.replace(f"| {there} |", "|", 1)
    ours = {
        name
        for name in re.findall(r"`([^`\n]+)`", text)
        if re.match(r"(?:kafka_|group_coordinator_|mirror\.|metrics\.|group-coordinator )", name)
    }

    assert len(ours) > 15
    assert ours - KNOWN == set()


@pytest.mark.parametrize("line", re.findall(r"^group-coordinator mirror (.*)$", TEXT, re.MULTILINE))
def test_the_mirror_has_the_options_of_the_example(line: str) -> None:
    assert set(re.findall(r"--[\w-]+", line)) <= options()
