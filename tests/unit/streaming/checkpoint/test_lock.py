from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from group_coordinator.streaming.checkpoint.file_lock import CheckpointInUseError, locked_checkpoint

HOLD = """
import sys
from group_coordinator.streaming.checkpoint.file_lock import locked_checkpoint
with locked_checkpoint(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_checkpoint_is_held_once(tmp_path: Path) -> None:
    location = str(tmp_path / "checkpoint" / "coordinator")

    with (
        locked_checkpoint(location),
        pytest.raises(
            CheckpointInUseError, match=f"^checkpoint {re.escape(location)}: another run"
        ),
        locked_checkpoint(location),
    ):
        pass

    with locked_checkpoint(location):
        pass


def test_each_query_has_a_lock_of_its_own_and_spark_s_folder_is_left_alone(tmp_path: Path) -> None:
    with locked_checkpoint(f"{tmp_path}/coordinator"), locked_checkpoint(f"{tmp_path}/compaction"):
        assert sorted(entry.name for entry in tmp_path.iterdir()) == [
            "compaction.lock",
            "coordinator.lock",
        ]


@pytest.mark.parametrize("scheme", ["file:", "file://", "file://localhost"])
def test_a_file_url_is_the_folder_that_it_names(tmp_path: Path, scheme: str) -> None:
    with (
        locked_checkpoint(f"{tmp_path}/coordinator"),
        pytest.raises(CheckpointInUseError),
        locked_checkpoint(f"{scheme}{tmp_path}/coordinator"),
    ):
        pass


def test_a_relative_folder_is_where_the_process_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    with locked_checkpoint("checkpoint/coordinator"):
        assert (tmp_path / "checkpoint" / "coordinator.lock").exists()


def test_a_checkpoint_elsewhere_is_not_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    with locked_checkpoint("s3a://bucket/checkpoint"), locked_checkpoint("s3a://bucket/checkpoint"):
        assert list(tmp_path.iterdir()) == []


def test_a_lock_does_not_outlive_a_killed_process(tmp_path: Path) -> None:
    location = str(tmp_path / "coordinator")
    with subprocess.Popen(  # noqa: S603 - a fixed program
        [sys.executable, "-c", HOLD, location], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(CheckpointInUseError), locked_checkpoint(location):
            pass
        holder.send_signal(signal.SIGKILL)
        assert holder.wait(30) == -signal.SIGKILL

        with locked_checkpoint(location):
            pass
