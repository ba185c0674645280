"""The jobs where Spark is provided refuse as the commands do, as scripts and as an entry point of the wheel."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from click.testing import CliRunner

from group_coordinator.cli.submitted import main

JOBS = Path(__file__).parents[3] / "jobs"
SCRIPTS = {
    "create_tables.py": "create_tables",
    "check_setup.py": "check",
    "run_coordinator.py": "run",
    "compact_tables.py": "compact",
    "rebuild_checkpoint.py": "rebuild",
}


def test_each_script_is_a_command_of_the_entry_point() -> None:
    assert sorted(SCRIPTS) == sorted(file.name for file in JOBS.glob("*.py"))
    commands = {
        script: runpy.run_path(str(JOBS / script))[name] for script, name in SCRIPTS.items()
    }
    assert sorted(main.commands) == sorted(name.replace("_", "-") for name in SCRIPTS.values())
    assert [command.name for command in commands.values()] == list(main.commands)


@pytest.mark.parametrize("command", ["run", "rebuild"])
def test_a_refusal_is_one_sentence_and_status_1(command: str) -> None:
    refused = CliRunner().invoke(main, [command, "--bootstrap-server", "127.0.0.1:1"])

    assert refused.exit_code == 1
    assert refused.stderr.startswith("Error: no Kafka broker answers (127.0.0.1:1: ")


@pytest.mark.parametrize("command", list(main.commands))
def test_a_setting_that_is_wrong_is_wrong_usage(command: str) -> None:
    refused = CliRunner().invoke(main, [command, "--set", "trigger.interval.ms=0"])

    assert refused.exit_code == 2
    assert "trigger.interval.ms = 0: Expected `int` >= 1" in refused.stderr


def test_a_root_that_is_no_folder_is_refused() -> None:
    refused = CliRunner().invoke(main, ["create-tables", "--set", "tables.root=gc"])

    assert refused.exit_code == 1
    assert refused.stderr.startswith("Error: tables.root = gc: a folder is written with a slash")
