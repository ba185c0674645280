from __future__ import annotations

import pytest
from click.testing import CliRunner

from group_coordinator.cli.main import main
from group_coordinator.cli.shared_options import LAST_INT32, LAST_INT64, job_settings, whole_number
from group_coordinator.cli.submitted import jobs


def test_an_option_wins_over_the_setting_of_its_name() -> None:
    overrides = ("metrics.listen=127.0.0.1:1", "bootstrap.servers=a:1")

    job = job_settings(None, overrides, "b:2", "127.0.0.1:2").job
    as_set = job_settings(None, overrides, None, None).job

    assert (job.bootstrap_servers, job.metrics_listen) == ("b:2", "127.0.0.1:2")
    assert (as_set.bootstrap_servers, as_set.metrics_listen) == ("a:1", "127.0.0.1:1")


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


@pytest.mark.parametrize(
    ("text", "most", "number"),
    [
        ("0", LAST_INT32, 0),
        ("007", LAST_INT32, 7),
        ("2147483647", LAST_INT32, 2_147_483_647),
        ("2147483648", LAST_INT32, None),
        ("9223372036854775807", LAST_INT64, 9_223_372_036_854_775_807),
        ("9223372036854775808", LAST_INT64, None),
        ("1" * 10_000, LAST_INT64, None),
        ("", LAST_INT32, None),
        ("-1", LAST_INT32, None),
        ("1.5", LAST_INT32, None),
        ("+1", LAST_INT32, 1),
        ("-0", LAST_INT32, 0),
        ("\u0661\u0660", LAST_INT32, 10),
        ("1_0", LAST_INT32, None),
        (" 1", LAST_INT32, None),
        ("1\n", LAST_INT32, None),
        ("\U0001d7cf", LAST_INT32, None),
        ("0" * 5_000 + "7", LAST_INT32, 7),
    ],
)
def test_a_text_that_is_a_number_in_its_range(text: str, most: int, number: int | None) -> None:
    assert whole_number(text, most) == number
