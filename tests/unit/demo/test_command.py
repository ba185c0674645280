from __future__ import annotations

import pytest
from click.testing import CliRunner

from group_coordinator.demo.command import command


@pytest.mark.parametrize("option", ["--groups", "--members"])
def test_the_mirror_has_a_cast_of_its_own(option: str) -> None:
    done = CliRunner().invoke(command, ["--mirror", option, "50"])

    assert done.exit_code == 2
    assert f"{option} is of the demo without --mirror" in done.output
