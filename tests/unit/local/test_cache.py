from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import Timeout

from group_coordinator.local.folders import cache_folder, only_one_process

HOLD = """
import sys
from pathlib import Path
from group_coordinator.local.folders import only_one_process
with only_one_process(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("named", [True, False], ids=["XDG_CACHE_HOME", "the usual place"])
def test_the_cache_is_where_the_user_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, named: bool
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere") if named else "")

    folder = cache_folder("jars")

    home = tmp_path / ("elsewhere" if named else ".cache")
    assert folder == home / "group-coordinator" / "jars"
    assert folder.is_dir()


def test_no_other_user_looks_into_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    before = os.umask(0)

    try:
        folder = cache_folder("jars")
    finally:
        os.umask(before)

    made = (folder, folder.parent, folder.parent.parent)
    assert [oct(path.stat().st_mode & 0o777) for path in made] == ["0o700"] * 3


def test_a_lock_does_not_outlive_a_killed_process(tmp_path: Path) -> None:
    file = tmp_path / ".lock"
    with subprocess.Popen(  # noqa: S603 - a fixed program
        [sys.executable, "-c", HOLD, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(Timeout):
            only_one_process(file).acquire(blocking=False)
        holder.send_signal(signal.SIGKILL)
        assert holder.wait(30) == -signal.SIGKILL

        with only_one_process(file):
            pass
