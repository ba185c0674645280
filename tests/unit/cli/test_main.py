from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from deltalake import write_deltalake
from pyarrow import Table

from group_coordinator import __version__
from group_coordinator.cli.main import COMMANDS, main
from group_coordinator.local.jars import JavaMissingError
from group_coordinator.settings import SettingsError
from tests.support.mute_listener import mute_listener


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_module(name: str) -> None:
    assert find_spec(f"group_coordinator.{COMMANDS[name][0]}") is not None


def test_help_lists_the_commands_in_the_order_of_their_use() -> None:
    shown = CliRunner().invoke(main, ["--help"])

    assert shown.exit_code == 0
    listed = shown.stdout.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in listed] == list(COMMANDS)


def test_version() -> None:
    assert CliRunner().invoke(main, ["--version"]).stdout.split()[-1] == __version__


@pytest.mark.parametrize(
    ("arguments", "number", "status", "said"),
    [
        (["init"], signal.SIGINT, 130, "Interrupted.\n"),
        (["init"], signal.SIGTERM, 143, "Terminated.\n"),
        (["mirror"], signal.SIGTERM, 143, "Terminated.\n"),
        (["groups", "--describe", "--group", "g"], signal.SIGTERM, 143, "Terminated.\n"),
    ],
)
def test_a_signal_ends_the_wait_for_a_broker_that_does_not_answer(
    arguments: list[str], number: signal.Signals, status: int, said: str, tmp_path: Path
) -> None:
    with mute_listener() as broker:
        process = subprocess.Popen(  # noqa: S603 - a fixed program
            [
                *(sys.executable, "-m", "group_coordinator.cli.main", *arguments),
                *("--bootstrap-server", broker.bootstrap_server),
            ],
            cwd=tmp_path,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert broker.was_reached.wait(60)
        process.send_signal(number)
        _, told = process.communicate(timeout=15)

    assert (process.returncode, told) == (status, said)


def test_an_unknown_command_is_wrong_usage() -> None:
    refused = CliRunner().invoke(main, ["grupos"])

    assert refused.exit_code == 2
    assert "No such command 'grupos'" in refused.stderr


HEAVY = ("pyspark", "pandas", "delta", "altair", "pyarrow", "kafka")


@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [
        *(([], []), (["replay-events"], []), (["report"], ["altair", "pyarrow"])),
        *(([name], ["pyarrow"]) for name in ("sql", "mcp")),
        *(
            ([name], ["pyarrow", "kafka"])
            for name in ("groups", "restore", "export", "import", "gateway")
        ),
    ],
)
def test_commands_without_spark_start_without_spark(
    arguments: list[str], allowed: list[str]
) -> None:
    assert heavy_modules([*arguments, "--help"]) - set(allowed) == set()


def test_a_query_waits_neither_for_pandas_nor_for_a_kafka_client(tables: Path) -> None:
    assert heavy_modules(["sql", "--tables", str(tables), "SELECT 1"]) == {"pyarrow"}


def heavy_modules(arguments: list[str]) -> set[str]:
    """Slow modules that a command imports."""
    program = (
        "import sys; from group_coordinator.cli.main import main; "
        f"main({arguments}, standalone_mode=False); "
        f"sys.exit(' '.join(name for name in {HEAVY} if name in sys.modules))"
    )
    done = subprocess.run(  # noqa: S603 - a fixed program
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    return set(done.stderr.split())


@pytest.mark.parametrize(
    ("failure", "status"),
    [
        (SettingsError("timer.slack is not a setting"), 2),
        (JavaMissingError("Java is missing"), 1),
    ],
    ids=["wrong usage", "refused"],
)
def test_a_failure_gives_its_message_and_status(
    failure: Exception, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    @click.command()
    def failing() -> None:
        raise failure

    monkeypatch.setattr("group_coordinator.cli.broker.command", failing)

    ended = CliRunner().invoke(main, ["broker"])

    assert (ended.exit_code, ended.stderr) == (status, f"Error: {failure}\n")


@pytest.mark.parametrize(
    ("command", "package", "extra"),
    [("sql", "rich", "local"), ("report", "altair", "report"), ("mcp", "mcp", "mcp")],
)
def test_a_command_that_needs_more_says_how_to_get_it(
    command: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_it(module: str) -> None:
        raise ModuleNotFoundError(f"{module} needs it", name=package)

    monkeypatch.setattr("group_coordinator.cli.main.import_module", without_it)

    refused = CliRunner().invoke(main, [command])

    assert refused.exit_code == 1
    assert refused.stderr == (
        f"Error: {command} needs {package}: pip install 'spark-group-coordinator[{extra}]'\n"
    )


def ended(arguments: list[str], stdout: int) -> tuple[int, str]:
    """Exit status and errors of a process that keeps what it prints until its end, or until the buffer is full."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(  # noqa: S603 - a fixed program
        [sys.executable, "-m", "group_coordinator.cli.main", *arguments],
        env={**environment, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.fixture
def pipe_without_reader() -> Iterator[int]:
    reading, writing = os.pipe()
    os.close(reading)
    yield writing
    os.close(writing)


@pytest.fixture
def one_line(tmp_path: Path) -> list[str]:
    story = tmp_path / "story.jsonl"
    story.write_text('{"at": 1}\n')
    return ["replay-events", str(story)]


def test_a_reader_that_is_gone_is_no_news(tmp_path: Path, pipe_without_reader: int) -> None:
    write_deltalake(str(tmp_path / "groups"), Table.from_pydict({"group_id": ["billing"]}))
    query = ["sql", "SELECT * FROM groups", "--tables", str(tmp_path), "--format", "csv"]

    assert ended(query, pipe_without_reader) == (1, "")


def test_nor_is_one_of_what_is_written_so(one_line: list[str], pipe_without_reader: int) -> None:
    assert ended(one_line, pipe_without_reader) == (1, "")


def test_a_full_disk_is_told(one_line: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        told = ended(one_line, full.fileno())

    assert told == (1, "Error: standard output: No space left on device\n")


def test_an_argument_that_is_no_text() -> None:
    refused = CliRunner().invoke(main, ["groups", "--validate-regex", "caf\udce9 au lait"])

    assert refused.exit_code == 2
    assert refused.stderr.endswith(r"Error: 'caf\udce9' is not UTF-8" + "\n")
