from __future__ import annotations

import pytest
from click.testing import CliRunner

from group_coordinator.demo.command import command


@pytest.mark.parametrize("show", ["--mirror", "--gateway"])
@pytest.mark.parametrize("option", ["--groups", "--members"])
def test_the_other_shows_have_their_own_groups(show: str, option: str) -> None:
    done = CliRunner().invoke(command, [show, option, "50"])

    assert done.exit_code == 2
    assert f"{option} is for the demo without --mirror" in done.output


@pytest.mark.parametrize(
    ("others", "message"),
    [
        (["--gateway", "--mirror"], "--mirror and --gateway are two demos"),
        (
            ["--gateway", "--bootstrap-server", "kafka:9092"],
            "the demo of the gateway has a broker of its own",
        ),
        (["--groups", "12"], "at least 13"),
    ],
)
def test_options_that_exclude_each_other(others: list[str], message: str) -> None:
    done = CliRunner().invoke(command, others)

    assert done.exit_code == 2
    assert message in done.output
