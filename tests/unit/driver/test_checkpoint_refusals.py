from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from group_coordinator.cli.main import main
from group_coordinator.streaming.checkpoint.file_lock import locked_checkpoint


@pytest.mark.parametrize(
    ("command", "held"),
    [
        (["run"], "coordinator"),
        (["run", "--drain"], "coordinator"),
        (["run", "--with-compaction"], "compaction"),
        (["compact"], "compaction"),
    ],
)
def test_a_second_run_on_a_checkpoint_is_refused_before_it_looks_for_kafka(
    tmp_path: Path, command: list[str], held: str
) -> None:
    with locked_checkpoint(f"{tmp_path}/{held}"):
        refused = CliRunner().invoke(main, [*command, "--set", f"checkpoint.location={tmp_path}"])

    assert refused.exit_code == 1
    assert refused.stderr == (
        f"Error: checkpoint {tmp_path}/{held}: another run works on it: stop that run, "
        "or set another checkpoint.location\n"
    )


@pytest.mark.parametrize("command", [["run"], ["compact"]])
def test_a_checkpoint_that_cannot_be_written_is_told(tmp_path: Path, command: list[str]) -> None:
    in_the_way = tmp_path / "checkpoint"
    in_the_way.write_text("no folder")

    refused = CliRunner().invoke(main, [*command, "--set", f"checkpoint.location={in_the_way}"])

    assert refused.exit_code == 1
    assert refused.stderr.startswith(f"Error: checkpoint {in_the_way}/co")
    assert refused.stderr.endswith(
        f": {in_the_way} (checkpoint.location) cannot be written: File exists\n"
    )


def test_a_run_without_compaction_goes_beside_a_compaction(tmp_path: Path) -> None:
    nobody = ["--bootstrap-server", "127.0.0.1:1", "--set", f"checkpoint.location={tmp_path}"]
    with locked_checkpoint(f"{tmp_path}/compaction"):
        refused = CliRunner().invoke(main, ["run", *nobody])

    assert refused.exit_code == 1
    assert refused.stderr.startswith("Error: no Kafka broker responds (127.0.0.1:1: ")
