from __future__ import annotations

import pytest
from click.testing import CliRunner

from group_coordinator.demo.command import command


@pytest.mark.parametrize("demo", ["--mirror", "--gateway"])
@pytest.mark.parametrize("option", ["--groups", "--members"])
def test_the_other_demos_have_casts_of_their_own(demo: str, option: str) -> None:
    done = CliRunner().invoke(command, [demo, option, "50"])

    assert done.exit_code == 2
    assert f"{option} is of the demo without --mirror" in done.output


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (["--mirror"], "--mirror and --gateway are two demos"),
        (["--bootstrap-server", "kafka:9092"], "the demo of the gateway has a broker of its own"),
    ],
)
def test_the_gateway_stands_before_its_own_broker(other: list[str], said: str) -> None:
    done = CliRunner().invoke(command, ["--gateway", *other])

    assert done.exit_code == 2
    assert said in done.output
