"""The real command in a process of its own, as a user runs it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Self

import group_coordinator
from tests.support.until import Found, text_of, until

STOP_TIMEOUT_S = 180


ROOT = Path(__file__).parents[2]
COMMAND = ("group_coordinator.cli.main",)
_OURS = str(Path(group_coordinator.__file__).parents[1])
"""Where this process has it from: lib of the checkout, or a wheel that is installed."""


class JobProcess:
    """`group-coordinator ARGUMENTS`, ended at the latest when its `with` block ends.

    `program` is the module that is run, with the arguments that it takes before those of the command; `variables` are
    added to its environment.
    """

    def __init__(
        self,
        arguments: list[str],
        folder: Path,
        program: tuple[str, ...] = COMMAND,
        variables: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._log = folder / f"{arguments[0]}.log"
        path = os.pathsep.join([_OURS, str(ROOT)])
        environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONPATH": path, **variables}
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 - a fixed program
                [sys.executable, "-m", *program, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=folder,
                env=environment,
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self.kill()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def check_alive(self) -> None:
        status = self._process.poll()
        assert status is None, f"the job ended with status {status}:\n{self.log}"

    def until(
        self,
        condition: Callable[[], Found],
        *,
        seconds: float,
        awaited: str | Callable[[], str],
        poll_s: float = 0.2,
    ) -> Found:
        """Ask until the answer is true, while the job runs."""

        def while_alive() -> Found:
            found = condition()
            if not found:
                self.check_alive()
            return found

        return until(
            while_alive,
            seconds=seconds,
            awaited=lambda: f"{text_of(awaited)}\n{self.log}",
            poll_s=poll_s,
        )

    def wait(self, timeout_s: float) -> int:
        """Its exit status, when it has done its work."""
        return self._process.wait(timeout_s)

    def stop(self) -> int:
        """SIGTERM, as a service manager does it; its exit status."""
        self._process.terminate()
        return self._process.wait(STOP_TIMEOUT_S)

    def kill(self) -> None:
        """SIGKILL for the driver, its JVM and its workers at once."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace")[-6_000:]
