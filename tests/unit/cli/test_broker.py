"""`group-coordinator broker` where no broker comes up; tests/broker has those that do."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from group_coordinator.cli.main import main


@pytest.fixture(autouse=True)
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the test's own cache has what is known of the broker that runs."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = tmp_path / "group-coordinator" / "run"
    folder.mkdir(parents=True)
    return folder / "broker.json"


def broker(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["broker", *arguments])


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "Input data was truncated"),
        ('{"pid": 1, "bootst', "Input data was truncated"),
        ('{"pid": 1}', "Object missing required field `bootstrap_servers`"),
    ],
)
@pytest.mark.parametrize("action", ["start", "stop"])
def test_a_damaged_record_is_named(record: Path, action: str, text: str, fault: str) -> None:
    record.write_text(text)

    refused = broker(action)

    assert (refused.exit_code, refused.stderr) == (
        1,
        f"Error: {record} is damaged ({fault}): stop the broker if it still runs, and delete the file\n",
    )
    assert record.read_text() == text


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / "data"

    refused = broker("start", "--data", str(folder))

    assert (refused.exit_code, refused.stderr) == (1, f"Error: {folder}: Not a directory\n")
