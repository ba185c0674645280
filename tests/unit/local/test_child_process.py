from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from group_coordinator.local.child_process import ChildProcess, CommandFailedError
from tests.support.until import until

FAMILY = "sleep 300 & echo $!; sleep 300"
PARENT = """
import sys
from pathlib import Path
from group_coordinator.local.child_process import ChildProcess
child = ChildProcess("Family", ["sh", "-c", sys.argv[1]], Path(sys.argv[2]))
print(flush=True)
sys.stdin.read()
"""


def wait(seconds: float) -> None:
    threading.Event().wait(seconds)


def await_line(file: Path) -> int:
    until(
        lambda: file.exists() and file.read_text().endswith("\n"),
        seconds=20,
        awaited="a line",
        poll_s=0.02,
    )
    return int(file.read_text())


def is_alive(pid: int) -> bool:
    status = subprocess.run(  # noqa: S603 - a fixed program
        ["ps", "-o", "stat=", "-p", str(pid)],  # noqa: S607 - a fixed program
        capture_output=True,
        text=True,
        check=False,
    )
    return status.stdout.strip()[:1] not in ("", "Z")


def await_death(pid: int) -> None:
    until(lambda: not is_alive(pid), seconds=20, awaited=f"the end of {pid}", poll_s=0.02)


def test_success(tmp_path: Path) -> None:
    process = ChildProcess("Greeting", ["echo", "hello"], tmp_path / "output")
    process.await_success(wait)

    assert process.output == "hello\n"

    process.end()


def test_a_failure_carries_what_was_said(tmp_path: Path) -> None:
    process = ChildProcess("Step", ["sh", "-c", "echo no luck; exit 3"], tmp_path / "output")

    with pytest.raises(CommandFailedError, match=r"Step ended with status 3(?s:.*)no luck"):
        process.await_success(wait)

    process.end()


def test_what_it_started_ends_with_it(tmp_path: Path) -> None:
    output = tmp_path / "output"
    process = ChildProcess("Family", ["sh", "-c", FAMILY], output)
    grandchild = await_line(output)
    process.check_alive()
    process.end()

    await_death(grandchild)
    with pytest.raises(CommandFailedError):
        process.check_alive()


def test_it_never_outlives_us(tmp_path: Path) -> None:
    output = tmp_path / "output"
    parent = subprocess.Popen(  # noqa: S603 - a fixed program
        [sys.executable, "-c", PARENT, FAMILY, str(output)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert parent.stdout is not None
    parent.stdout.readline()
    grandchild = await_line(output)
    parent.kill()
    parent.communicate()

    await_death(grandchild)
