from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from group_coordinator.cli.main import main

COMMANDS = ["groups --list", "consume --topic orders", "gateway", "positions", "mirror"]


def said_of(login: Path, line: str) -> str:
    """The last line of a command that refuses this login."""
    refused = CliRunner().invoke(main, [*line.split(), "--command-config", str(login)])
    assert refused.exit_code == 2
    return refused.stderr.splitlines()[-1]


@pytest.mark.parametrize("line", COMMANDS)
def test_a_login_without_a_user_names_file_and_property(tmp_path: Path, line: str) -> None:
    login = tmp_path / "client.properties"
    login.write_text("security.protocol=sasl_plaintext\nsasl.mechanism=PLAIN\n")

    assert said_of(login, line) == (
        f"Error: {login}: sasl.mechanism = PLAIN needs username and password in sasl.jaas.config; kafka-python calls them "
        "sasl_plain_username and sasl_plain_password"
    )


@pytest.mark.parametrize("line", COMMANDS)
def test_a_protocol_that_is_misspelt_names_file_and_property(tmp_path: Path, line: str) -> None:
    login = tmp_path / "client.properties"
    login.write_bytes("# für alle\nsecurity.protocol=SASLSSL\n".encode("latin-1"))

    assert said_of(login, line) == (
        f"Error: {login}: security.protocol = SASLSSL: it must be one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL"
    )


def test_a_package_that_the_login_of_the_settings_needs_is_named() -> None:
    login = ["--set", "security.protocol=SASL_SSL", "--set", "sasl.mechanism=AWS_MSK_IAM"]

    refused = CliRunner().invoke(main, ["groups", "--list", *login])

    assert refused.exit_code == 2
    assert refused.stderr.splitlines()[-1] == (
        "Error: sasl.mechanism = AWS_MSK_IAM needs botocore: pip install 'spark-group-coordinator[msk]'"
    )
