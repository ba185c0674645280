"""`group-coordinator report` on tables that the state machine filled."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest
from click.testing import CliRunner, Result

from group_coordinator.cli.report import command
from group_coordinator.cli.shared_options import address_of
from group_coordinator.report.watch import Current, Texts, served
from group_coordinator.tables.creation import TABLES
from tests.support.group_history import GroupHistory, tables_of


@pytest.fixture
def tables(tmp_path: Path) -> str:
    billing = GroupHistory("billing", cluster_id="eu-1")
    billing.commit({"orders": {0: 10}})
    billing.sleep(3_600_000)
    billing.delete_offsets({"orders": [0]})
    return str(tables_of(tmp_path / "tables", billing))


def report(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)


def test_a_file(tables: str, tmp_path: Path) -> None:
    file = tmp_path / "eu-1.html"

    when = ["--as-of", "1970-01-01 02:00", "--hours", "2", "--cluster", "eu-1"]
    result = report("--tables", tables, *when, "--output", str(file))

    assert (result.exit_code, result.stdout) == (0, f"Written: {file}\n")
    text = file.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "<title>Consumer groups of eu-1, 1970-01-01 02:00 UTC</title>" in text
    assert "The 2 hours until" in text
    assert "partition 0, at 10" in text


def test_hours_and_a_time_say_what_is_shown(tables: str, tmp_path: Path) -> None:
    file = tmp_path / "report.html"

    report("--tables", tables, "--as-of", "1970-01-01T00:30", "--output", str(file))

    text = file.read_text(encoding="utf-8")
    assert "No offset was lost in this time." in text
    assert "The 24 hours until" in text


def test_a_cluster_that_is_not_there(tables: str, tmp_path: Path) -> None:
    file = tmp_path / "report.html"

    result = report("--tables", tables, "--cluster", "eu-2", "--output", str(file))

    assert (result.exit_code, file.exists()) == (1, False)
    assert result.stderr == (
        "Error: the tables have no cluster 'eu-2' in this time; they have 'eu-1'\n"
    )


def test_tables_without_a_group_know_no_cluster_yet(tmp_path: Path) -> None:
    file = tmp_path / "report.html"

    tables = str(tables_of(tmp_path / "tables"))
    result = report("--tables", tables, "--cluster", "eu-1", "--output", str(file))

    assert (result.exit_code, file.exists()) == (0, True)


def test_a_missing_table_has_its_name_and_a_remedy(tmp_path: Path) -> None:
    for table in TABLES:
        if table.name != "groups":
            table.create_on_disk(tmp_path / table.name)

    result = report("--tables", str(tmp_path))

    assert (result.exit_code, result.output) == (
        1,
        "Error: tables.root lacks the table groups: `group-coordinator init` creates it\n",
    )


def test_no_tables(tmp_path: Path) -> None:
    result = report("--tables", str(tmp_path))

    assert result.exit_code == 1
    assert f"Error: tables.root = {tmp_path} has no tables" in result.stderr


def test_a_file_that_cannot_be_written(tables: str, tmp_path: Path) -> None:
    result = report("--tables", tables, "--output", str(tmp_path / "nowhere" / "report.html"))

    assert result.exit_code == 1
    assert "No such file or directory" in result.stderr


@pytest.mark.parametrize(
    "address",
    [
        *("8090", ":8090", "localhost", "localhost:http", "localhost:65536", "localhost:8_090"),
        *("localhost: 80", "a..b:80", "é" * 80 + ":80"),
    ],
)
def test_an_address_that_is_none(address: str) -> None:
    result = report("--watch", "--listen", address)

    assert result.exit_code == 2
    assert f"'{address}' is not HOST:PORT: give an address such as 127.0.0.1:8090" in result.stderr


@pytest.mark.parametrize(
    ("text", "address"),
    [("http://127.0.0.1:8090", ("127.0.0.1", 8090)), ("[::1]:0", ("::1", 0))],
)
def test_an_address(text: str, address: tuple[str, int]) -> None:
    assert address_of(text) == address


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--hours", "100000000"), "100000000 hours before 1970-01-01 is before year 1"),
        (("--hours", "9" * 30), "9" * 30 + " hours before 1970-01-01 is before year 1"),
        (("--as-of", "0001-01-01"), "24 hours before 0001-01-01 is before year 1"),
        (("--as-of", "0001-01-01T00:00+01:00"), "'0001-01-01T00:00+01:00' is not a time:"),
    ],
)
def test_no_time_is_before_the_first_year(
    tables: str, tmp_path: Path, arguments: tuple[str, str], complaint: str
) -> None:
    file = tmp_path / "report.html"

    result = report("--tables", tables, "--output", str(file), "--as-of", "1970-01-01", *arguments)

    assert result.exit_code == 2
    assert complaint in result.stderr
    assert not file.exists()


def test_the_last_moment_of_the_calendar(tables: str, tmp_path: Path) -> None:
    file = tmp_path / "report.html"

    last = "9999-12-31T23:59:59.999999"
    result = report("--tables", tables, "--output", str(file), "--as-of", last)

    assert (result.exit_code, result.stdout) == (0, f"Written: {file}\n")


def test_the_end_is_told_in_utc(tables: str, tmp_path: Path) -> None:
    file = tmp_path / "report.html"

    report("--tables", tables, "--output", str(file), "--as-of", "1970-01-01T04:00+02:00")

    assert "<title>Consumer groups of eu-1, 1970-01-01 02:00 UTC</title>" in file.read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--watch", "--output", "page.html"], "--output names a file, and --watch writes no file"),
        (["--listen", "127.0.0.1:0"], "--listen has no effect without --watch"),
        (["--every", "30"], "--every has no effect without --watch"),
        (
            ["--watch", "--as-of", "1970-01-01"],
            "--watch shows the present, --as-of an earlier time",
        ),
        (["--watch", "--every", "9" * 30], "is not in the range 1<=x<=31622400"),
    ],
)
def test_an_option_that_cannot_be_used_is_refused(arguments: list[str], message: str) -> None:
    result = report(*arguments)

    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_watched_until_a_signal(tables: str, number: signal.Signals) -> None:
    watching = subprocess.Popen(  # noqa: S603 - a fixed program
        [sys.executable, "-m", "group_coordinator.cli.main", "report", "--watch", "--tables", tables, "--listen", "127.0.0.1:0"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    assert watching.stdout is not None
    address = watching.stdout.readline().split()[0]
    with urlopen(address, timeout=10) as answer:  # noqa: S310 - the address of our own server
        assert b"<title>Consumer groups of eu-1" in answer.read()

    watching.send_signal(number)
    _, errors = watching.communicate(timeout=10)

    assert (watching.returncode, errors) == (0, "")


def test_a_port_that_is_taken(tables: str) -> None:
    with served(Current(lambda: Texts("", "")), "127.0.0.1", 0) as address:
        taken = address.removeprefix("http://").rstrip("/")
        result = report("--watch", "--tables", tables, "--listen", taken)

    assert result.exit_code == 1
    assert result.stderr == f"Error: {taken}: Address already in use\n"
