"""The jobs where Spark is provided refuse as the commands do, as scripts and as an entry point of the wheel."""

from __future__ import annotations

import pkgutil
import runpy
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from group_coordinator.cli.submitted import jobs

JOBS = Path(__file__).parents[3] / "jobs"
SCRIPTS = {
    "create_tables.py": "create_tables",
    "check_setup.py": "check",
    "run_coordinator.py": "run",
    "compact_tables.py": "compact",
    "mirror_offsets_topic.py": "mirror",
    "sample_positions.py": "positions",
    "label_groups.py": "labels",
    "ask_tables.py": "sql",
    "rebuild_checkpoint.py": "rebuild",
}


def test_each_script_is_a_command_of_the_entry_point() -> None:
    assert sorted(SCRIPTS) == sorted(file.name for file in JOBS.glob("*.py"))
    commands = {
        script: runpy.run_path(str(JOBS / script))[name] for script, name in SCRIPTS.items()
    }
    assert sorted(jobs.commands) == sorted(name.replace("_", "-") for name in SCRIPTS.values())
    assert [command.name for command in commands.values()] == list(jobs.commands)


def entry_point() -> Callable[[], None]:
    """What the wheel has under this name; a scheduler loads and calls it."""
    scripts = tomllib.loads((JOBS.parent / "pyproject.toml").read_text())["project"]["scripts"]
    called: Callable[[], None] = pkgutil.resolve_name(scripts["group-coordinator-job"])
    return called


def test_the_entry_point_returns_where_a_job_ended_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scheduler that calls it takes SystemExit for a failure, whatever the status."""
    monkeypatch.setattr(sys, "argv", ["group-coordinator-job", "run", "--help"])

    entry_point()()


def test_the_entry_point_ends_with_the_status_of_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    options = ["run", "--bootstrap-server", "127.0.0.1:1"]
    monkeypatch.setattr(sys, "argv", ["group-coordinator-job", *options])

    with pytest.raises(SystemExit) as end:
        entry_point()()

    assert end.value.code == 1


@pytest.mark.parametrize("command", ["run", "rebuild"])
def test_a_refusal_is_one_sentence_and_status_1(command: str) -> None:
    refused = CliRunner().invoke(jobs, [command, "--bootstrap-server", "127.0.0.1:1"])

    assert refused.exit_code == 1
    assert refused.stderr.startswith("Error: no Kafka broker responds (127.0.0.1:1: ")


@pytest.mark.parametrize("command", list(jobs.commands))
def test_a_setting_that_is_wrong_is_wrong_usage(command: str) -> None:
    needed = {"sql": ["SELECT 1"], "labels": ["--input", __file__]}.get(command, [])
    refused = CliRunner().invoke(jobs, [command, *needed, "--set", "trigger.interval.ms=0"])

    assert refused.exit_code == 2
    assert "trigger.interval.ms = 0: Expected `int` >= 1" in refused.stderr


def test_a_root_that_is_no_folder_is_refused() -> None:
    refused = CliRunner().invoke(jobs, ["create-tables", "--set", "tables.root=gc"])

    assert refused.exit_code == 1
    assert refused.stderr.startswith("Error: tables.root = gc: write a folder with a slash")
