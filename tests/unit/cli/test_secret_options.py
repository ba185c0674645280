"""Secrets on a command line, and in files that other users can read."""

from __future__ import annotations

from pathlib import Path

import pytest
from click import Command
from click.testing import CliRunner

from group_coordinator.cli.main import COMMANDS, main
from group_coordinator.cli.submitted import jobs
from group_coordinator.streaming.cluster_options import DATABRICKS

WITHOUT_SETTINGS = {"demo", "broker"}


@pytest.mark.parametrize(
    ("program", "name"),
    [
        *((main, name) for name in COMMANDS if name not in WITHOUT_SETTINGS),
        *((jobs, name) for name in jobs.commands),
    ],
)
@pytest.mark.parametrize("key", ["sasl.password", "ssl.key.password"])
def test_no_command_takes_a_secret_as_an_option(program: Command, name: str, key: str) -> None:
    refused = CliRunner().invoke(program, [name, "--set", f" {key} = hush"])

    variable = f"GROUP_COORDINATOR_{key.upper().replace('.', '_')}"
    assert refused.exit_code == 2
    assert refused.stderr.splitlines()[-1] == (
        f"Error: --set {key}: other users can read a command line: set the environment variable {variable}, or {key} in "
        "a --config file that only you can read"
    )
    assert "hush" not in refused.output


NAMES_OF_LIBRDKAFKA = {"sasl.password": "sasl.jaas.config"}


@pytest.mark.parametrize(
    "key",
    [
        *("sasl.jaas.config", "sasl.plain.password", "sasl_plain_password", "ssl.password"),
        *("ssl.key.password", "ssl.keystore.password", "ssl.truststore.password"),
        *("ssl.keystore.key", "sasl.oauthbearer.client.credentials.client.secret"),
        *("sasl.oauthbearer.assertion.private.key.passphrase", *NAMES_OF_LIBRDKAFKA),
    ],
)
def test_neither_does_consume_as_a_property(key: str) -> None:
    text = f'{key}=ScramLoginModule required username="u" password="hush";'

    refused = CliRunner().invoke(main, ["consume", "--topic", "t", "--command-property", text])

    in_file = NAMES_OF_LIBRDKAFKA.get(key, key)
    assert refused.exit_code == 2
    assert refused.stderr.splitlines()[-1] == (
        f"Error: --command-property {key}: other users can read a command line: set {in_file} in a --command-config file "
        "that only you can read"
    )
    assert "hush" not in refused.output


JAAS = "sasl.jaas.config = ScramLoginModule required username=u password='hush';\n"
KERBEROS = "sasl.jaas.config = com.sun.security.auth.module.Krb5LoginModule required useTicketCache=true;\n"


@pytest.mark.parametrize(
    ("option", "text", "mode", "keys"),
    [
        ("--config", "sasl.password = 'hush'\n", 0o644, "sasl.password"),
        ("--config", "sasl.password = 'hush'\n", 0o640, None),
        ("--config", "sasl.password = ''\nsasl.username = ''\n", 0o644, None),
        ("--command-config", JAAS, 0o604, "sasl.jaas.config"),
        ("--command-config", JAAS, 0o600, None),
        ("--command-config", KERBEROS, 0o644, None),
        ("--command-config", "client.id = shop\n", 0o644, None),
    ],
)
def test_a_file_with_a_secret_that_others_can_read(
    tmp_path: Path, option: str, text: str, mode: int, keys: str | None
) -> None:
    file = tmp_path / "login"
    file.write_text(text)
    file.chmod(mode)

    said = said_of(option, file)

    warning = (
        f"Warning: {file} has {keys}, and every user of this machine can read it: chmod o-r {file}"
    )
    assert [line for line in said if "every user" in line] == ([] if keys is None else [warning])


def test_modes_mean_nothing_on_databricks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "login"
    file.write_text("sasl.password = 'hush'\n")
    file.chmod(0o777)
    monkeypatch.setenv(DATABRICKS, "17.3")

    assert "every user" not in "".join(said_of("--config", file))


def said_of(option: str, file: Path) -> list[str]:
    nobody = ["--bootstrap-server", "127.0.0.1:1"]
    ended = CliRunner().invoke(main, ["groups", "--list", *nobody, option, str(file)])
    assert "hush" not in ended.output
    return ended.stderr.splitlines()
