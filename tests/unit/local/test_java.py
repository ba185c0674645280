from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from group_coordinator.cli.gateway import gateway_command
from group_coordinator.demo.mirror import kafka_tool
from group_coordinator.demo.stage import program

ROOT = Path(__file__).parents[3]
PLANTED = ("click", "kafka", "msgspec")


@pytest.mark.parametrize(
    "command",
    [
        [*gateway_command(None, (), None), "--help"],
        [*program("groups"), "--help"],
        [*kafka_tool("127.0.0.1:1").command, "--help"],
    ],
    ids=["gateway", "demo", "kafka-python"],
)
def test_a_module_in_the_current_folder_is_not_imported(tmp_path: Path, command: list[str]) -> None:
    for name in PLANTED:
        (tmp_path / f"{name}.py").write_text("open('planted ran', 'w')")

    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)  # noqa: S603 - a fixed program

    assert not (tmp_path / "planted ran").exists()
    assert (done.returncode, done.stderr) == (0, "")


def test_no_other_code_runs_a_module() -> None:
    found = [file for file in (ROOT / "lib").rglob("*.py") if '"-m"' in file.read_text("utf-8")]

    assert [file.name for file in found] == ["jars.py"]
