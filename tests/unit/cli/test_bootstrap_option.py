from __future__ import annotations

import pytest
from click.testing import CliRunner

from group_coordinator.cli.main import main
from group_coordinator.cli.submitted import jobs

COMMANDS = [
    *("check", "compact", "demo", "gateway", "groups --list", "init", "mirror", "positions"),
    *("rebuild", "run", "consume --topic orders"),
]
JOBS = ["check", "compact", "create-tables", "mirror", "positions", "rebuild", "run", "sql X"]


@pytest.mark.parametrize(
    ("program", "line"),
    [*((main, line) for line in COMMANDS), *((jobs, line) for line in JOBS)],
)
def test_every_command_refuses_what_is_no_address(program: object, line: str) -> None:
    refused = CliRunner().invoke(program, [*line.split(), "--bootstrap-server", "SSL://a:1,b:x"])  # type: ignore[arg-type]  # a group, whichever

    assert refused.exit_code == 2
    assert refused.stderr.splitlines()[-1] == (
        "Error: Invalid value for '--bootstrap-server': 'b:x' is not HOST:PORT, [IPv6]:PORT or PROTOCOL://HOST:PORT"
    )


@pytest.mark.parametrize(
    "line", ["gateway", "groups --describe --group g", "consume --topic orders", "init"]
)
def test_commands_take_brokers_in_mixed_forms(line: str) -> None:
    """Nobody listens there, and a command says so when it has read the addresses."""
    servers = "SASL_SSL://127.0.0.1:1,PLAINTEXT://[::1]:1,127.0.0.1:2"

    refused = CliRunner().invoke(main, [*line.split(), "--bootstrap-server", servers])

    assert refused.exit_code == 1
    told = refused.stderr.splitlines()[-1]
    assert all(address in told for address in ("127.0.0.1:1", "[::1]:1", "127.0.0.1:2"))
    assert "://" not in told
