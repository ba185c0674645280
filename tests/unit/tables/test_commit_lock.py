"""Who commits beside whom: real locks, held by this process and by another one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from threading import Event, Thread

import pytest

from group_coordinator.tables.catalog import commit_of_deltalake, commit_of_spark

KINDS = {"spark": commit_of_spark, "deltalake": commit_of_deltalake}
HELD_ELSEWHERE = """
import sys
from pathlib import Path
from group_coordinator.tables.catalog import commit_of_{kind}
with commit_of_{kind}(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def begun(kind: str, folder: Path) -> tuple[Event, Thread]:
    """A commit in a thread of its own, and whether it could begin."""
    began = Event()

    def commit() -> None:
        with KINDS[kind](folder):
            began.set()

    thread = Thread(target=commit)
    thread.start()
    return began, thread


@pytest.mark.parametrize(
    ("held", "wanted", "waits"),
    [
        ("spark", "spark", True),
        ("spark", "deltalake", True),
        ("deltalake", "spark", True),
        ("deltalake", "deltalake", False),
    ],
)
def test_spark_commits_alone(tmp_path: Path, held: str, wanted: str, waits: bool) -> None:  # noqa: FBT001
    with KINDS[held](tmp_path / "groups"):
        began, thread = begun(wanted, tmp_path / "groups")
        other, other_thread = begun("spark", tmp_path / "offsets")

        assert other.wait(10)
        assert began.wait(0.1 if waits else 10) is not waits
    thread.join(10)
    other_thread.join(10)
    assert began.is_set()


def test_a_process_that_is_killed_holds_nothing(tmp_path: Path) -> None:
    program = [sys.executable, "-c", HELD_ELSEWHERE.format(kind="spark"), f"{tmp_path}/groups"]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:  # noqa: S603 - a fixed program
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        began, thread = begun("deltalake", tmp_path / "groups")
        assert not began.wait(0.1)

        other.kill()
        thread.join(10)

    assert began.is_set()


def test_tables_elsewhere_have_no_lock() -> None:
    with commit_of_spark(None), commit_of_spark(None), commit_of_deltalake(None):
        pass
