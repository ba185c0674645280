"""The command's options and refusals, and the process of a run; real clients: tests/broker/gateway, with Spark: tests/end_to_end."""

from __future__ import annotations

import logging
import signal
import sys
from pathlib import Path
from threading import Event, Thread
from typing import Any

import psutil
import pytest
from click.testing import CliRunner, Result

from group_coordinator.cli.gateway import gateway_command, run_gateway_process
from group_coordinator.cli.main import main
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.driver.errors import StartUpError
from group_coordinator.gateway.run import ONE_USER_TOLD
from group_coordinator.settings import JobSettings
from tests.support.certificates import self_signed
from tests.support.until import until

NOBODY = "127.0.0.1:1"


def gateway(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["gateway", *arguments])


def test_options_win_over_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[Any] = []

    def run(job: JobSettings, connection: Connection, _open_groups: object) -> None:
        timeout_ms = connection.options.get("request_timeout_ms")
        asked.append((job.gateway_listen, job.gateway_advertised_host, timeout_ms))
        asked.append(connection.bootstrap_servers)

    monkeypatch.setattr("group_coordinator.cli.gateway.run_gateway", run)
    login = tmp_path / "client.properties"
    login.write_text("request.timeout.ms=60000\n")
    done = gateway(
        *("--bootstrap-server", "kafka:9092", "--listen", "0.0.0.0:9", "--advertise", "me"),
        *("--command-config", str(login), "--set", "gateway.listen=1.2.3.4:5"),
    )

    assert (done.exit_code, done.output) == (0, "")
    assert asked == [("0.0.0.0:9", "me", 60_000), "kafka:9092"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--bootstrap-server", NOBODY], f"no Kafka broker responds at {NOBODY}"),
        (
            ["--listen", "SSL://me:1"],
            "gateway.listen = SSL://me:1 is TLS: set gateway.ssl.keystore",
        ),
        (["--advertise", "me:1"], "gateway.advertised.host = me:1 is not a host without a port"),
        (["--listen", "19092"], "gateway.listen = 19092: it must be HOST:PORT"),
        (["--listen", "me:0"], "gateway.listen = me:0: it must be HOST:PORT"),
        (["--listen", "0.0.0.0:19092"], "set gateway.advertised.host, or --advertise HOST"),
        (["--advertise", "[::]"], "set gateway.advertised.host, or --advertise HOST"),
        (
            ["--set", "gateway.ssl.keystore.location=none.pem"],
            "gateway.ssl.keystore.location = none.pem: [Errno 2] No such file or directory",
        ),
    ],
)
def test_what_keeps_it_from_its_work_is_one_sentence(arguments: list[str], said: str) -> None:
    refused = gateway(*arguments)

    assert refused.exit_code == 1
    assert said in refused.stderr.splitlines()[-1]
    assert "Traceback" not in refused.output


@pytest.mark.parametrize("protocol", ["SASL_SSL", "SASL_PLAINTEXT"])
@pytest.mark.parametrize("listen", ["0.0.0.0:19092", "10.0.0.1:19092", "me:19092"])
def test_passwords_in_plain_text_are_refused_but_on_loopback(
    protocol: str, listen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUP_COORDINATOR_SASL_PASSWORD", "hush")
    login = [f"security.protocol={protocol}", "sasl.username=gateway"]
    allowed = "gateway.allow.plaintext.passwords=true"
    at = ["--bootstrap-server", NOBODY, "--advertise", "me", "--listen"]

    def said(where: str, *settings: str) -> str:
        given = [word for each in (*login, *settings) for word in ("--set", each)]
        return gateway(*at, where, *given).stderr.splitlines()[-1]

    assert said(listen) == (
        f"Error: gateway.listen = {listen}: clients would log in without TLS, and their passwords could be read on the "
        "way: set gateway.ssl.keystore.location, or listen on 127.0.0.1; behind a proxy that ends TLS set "
        "gateway.allow.plaintext.passwords = true"
    )
    for where in ("127.0.0.1:19092", "[::1]:19092", "localhost:19092"):
        assert said(where).startswith(f"Error: no Kafka broker responds at {NOBODY}")
    assert said(listen, allowed).startswith(f"Error: no Kafka broker responds at {NOBODY}")


def test_each_start_tells_of_the_one_user(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    settings = {
        "security.protocol": "SSL",
        "ssl.keystore.location": str(self_signed(tmp_path)),
        "gateway.clients.share.one.user": "true",
    }
    given = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]

    gateway("--bootstrap-server", NOBODY, *given)

    assert ONE_USER_TOLD in caplog.messages


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

    with pytest.raises(StartUpError, match="the gateway ended with status 1, and a run with"):
        run_gateway_process(command, Event(), Event())


def test_a_signal_is_named(tmp_path: Path) -> None:
    command = [sys.executable, "-c", DRAINED, str(tmp_path)]

    def kill() -> None:
        until((tmp_path / "up").exists, seconds=20, awaited="the process")
        [child] = [c for c in psutil.Process().children() if str(tmp_path) in c.cmdline()]
        child.send_signal(signal.SIGKILL)

    killer = Thread(target=kill)
    killer.start()
    with pytest.raises(StartUpError, match="the gateway was ended by SIGKILL"):
        run_gateway_process(command, Event(), Event())
    killer.join()


def test_it_has_settings_and_log_level_of_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger("group_coordinator"), "level", logging.DEBUG)
    settings = ["gateway.listen=127.0.0.1:9", "a=b"]
    command = gateway_command(Path("mine.toml"), settings, "kafka:9092")

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
