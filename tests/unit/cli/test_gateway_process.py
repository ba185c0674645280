"""The gateway beside a run; with Spark and clients: tests/end_to_end/test_end_to_end.py."""

from __future__ import annotations

import logging
import signal
import sys
from pathlib import Path
from threading import Event, Thread

import psutil
import pytest
from click.testing import CliRunner

from group_coordinator.cli.gateway import gateway_command, run_gateway_process
from group_coordinator.cli.main import main
from group_coordinator.driver.errors import JobRefusedError
from tests.support.until import until

NOBODY = "127.0.0.1:1"
DRAINED = """
import pathlib, signal, sys
def end(*_):
    pathlib.Path(sys.argv[1], "drained").touch()
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
pathlib.Path(sys.argv[1], "up").touch()
signal.pause()
"""


@pytest.mark.parametrize("set_event", [0, 1])
def test_it_drains_when_the_run_stops_or_has_ended(tmp_path: Path, set_event: int) -> None:
    events = Event(), Event()
    command = [sys.executable, "-c", DRAINED, str(tmp_path)]
    beside = Thread(target=run_gateway_process, args=(command, *events))
    beside.start()
    until((tmp_path / "up").exists, seconds=20, awaited="the process")

    events[set_event].set()
    beside.join(20)

    assert (tmp_path / "drained").exists()


def test_what_ends_it_ends_the_run() -> None:
    command = gateway_command(None, ["request.timeout.ms=1000"], NOBODY)

    with pytest.raises(JobRefusedError, match="the gateway ended with status 1, and a run with"):
        run_gateway_process(command, Event(), Event())


def test_a_signal_is_named(tmp_path: Path) -> None:
    command = [sys.executable, "-c", DRAINED, str(tmp_path)]

    def kill() -> None:
        until((tmp_path / "up").exists, seconds=20, awaited="the process")
        [child] = [c for c in psutil.Process().children() if str(tmp_path) in c.cmdline()]
        child.send_signal(signal.SIGKILL)

    killer = Thread(target=kill)
    killer.start()
    with pytest.raises(JobRefusedError, match="the gateway was ended by SIGKILL"):
        run_gateway_process(command, Event(), Event())
    killer.join()


def test_it_has_the_settings_and_the_log_level_of_the_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(logging.getLogger("group_coordinator"), "level", logging.DEBUG)
    command = gateway_command(
        Path("mine.toml"), ["gateway.listen=127.0.0.1:9", "a=b"], "kafka:9092"
    )

    assert command[3:] == [
        *("group_coordinator.cli.main", "gateway", "--log-level", "debug"),
        *("--config", "mine.toml"),
        *(
            "--bootstrap-server",
            "kafka:9092",
            "--set",
            "gateway.listen=127.0.0.1:9",
            "--set",
            "a=b",
        ),
    ]


def test_a_drain_has_none() -> None:
    refused = CliRunner().invoke(main, ["run", "--drain", "--with-gateway"])

    assert refused.exit_code == 2
    assert "a run with --drain ends when all events are read" in refused.stderr
