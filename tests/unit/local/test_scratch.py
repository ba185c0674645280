from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from group_coordinator.local.folders import scratch_folder

RUN = """
import sys
from group_coordinator.local.folders import scratch_folder
with scratch_folder() as scratch:
    (scratch / "blockmgr").mkdir()
    print(scratch, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder for one test alone."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_it_is_gone_with_all_that_is_in_it_when_the_run_ends(temporary: Path) -> None:
    with scratch_folder() as scratch:
        assert scratch.parent == temporary
        (scratch / "spark-1" / "userFiles").mkdir(parents=True)

    assert list(temporary.iterdir()) == []


def test_nobody_else_can_read_it() -> None:
    with scratch_folder() as scratch:
        assert scratch.stat().st_mode & 0o777 == 0o700


def test_that_of_a_killed_run_is_removed_at_the_next_start(temporary: Path) -> None:
    with subprocess.Popen(  # noqa: S603 - a fixed program
        [sys.executable, "-c", RUN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None
        abandoned = Path(run.stdout.readline().strip())
        with scratch_folder():
            assert (abandoned / "blockmgr").is_dir()
        run.send_signal(signal.SIGKILL)
        assert run.wait(30) == -signal.SIGKILL
        assert (abandoned / "blockmgr").is_dir()

        with scratch_folder() as scratch:
            assert set(temporary.iterdir()) == {scratch, scratch.with_suffix(".lock")}


def test_what_is_not_ours_stays(temporary: Path) -> None:
    (temporary / "group-coordinator-notes").mkdir()
    (temporary / "spark-of-somebody-else").mkdir()

    with scratch_folder():
        pass

    assert {entry.name for entry in temporary.iterdir()} == {
        "group-coordinator-notes",
        "spark-of-somebody-else",
    }
