"""The command's options and its refusals; real clients: tests/broker/gateway."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from group_coordinator.cli.main import main
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.gateway.run import ONE_USER_TOLD
from group_coordinator.settings import JobSettings
from tests.support.certificates import self_signed

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


def test_each_start_tells_that_clients_share_one_user(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = {
        "security.protocol": "SSL",
        "ssl.keystore.location": str(self_signed(tmp_path)),
        "gateway.clients.share.one.user": "true",
    }
    given = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]

    gateway("--bootstrap-server", NOBODY, *given)

    assert ONE_USER_TOLD in caplog.messages
