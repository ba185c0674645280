"""Child processes that never outlive this process."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

# The input is a pipe that only our process holds open: when our process ends, the read ends.
_SCRIPT = 'read -r _; kill -KILL "$1"; [ -z "$2" ] || rm -rf "$2"'


class Watchdog:
    """Shell in its own session, which kills the target (as for kill(2)) after this process ends, and removes the folder."""

    def __init__(self, target: int, temporary_folder: Path | None = None) -> None:
        arguments = (str(target), str(temporary_folder or ""))
        self._process = subprocess.Popen(  # noqa: S603 - a script of our own
            ["/bin/sh", "-c", _SCRIPT, "watchdog", *arguments],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )

    def dismiss(self) -> None:
        self._process.kill()
        self._process.communicate()


_POLL_SECONDS = 0.05
_TAIL_LINES = 15


class CommandFailedError(RuntimeError):
    """A command failed or ended too early; the message has the end of its output."""


class ChildProcess:
    """Command in its own session, so that a Ctrl-C for the demo does not reach it.

    `what` is its name for messages; `folder` is its working folder and its folder for temporary files, which remain if it is killed.
    """

    def __init__(
        self, what: str, command: Sequence[str], output: Path, folder: Path | None = None
    ) -> None:
        self._what = what
        self._output = output
        with output.open("wb") as file:
            self._process = subprocess.Popen(  # noqa: S603 - the caller's fixed program
                command,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env=None if folder is None else {**os.environ, "TMPDIR": str(folder)},
                start_new_session=True,
            )
        self._watchdog = Watchdog(-self._process.pid)

    @property
    def status(self) -> int | None:
        """Exit status; None while the command runs."""
        return self._process.poll()

    @property
    def output(self) -> str:
        return self._output.read_text(encoding="utf-8", errors="replace")

    def check_alive(self) -> None:
        if self.status is not None:
            raise self._failure()

    def await_success(self, pause: Callable[[float], None]) -> None:
        """Return when the command has succeeded. Raises CommandFailedError."""
        while self.status is None:
            pause(_POLL_SECONDS)
        if self.status != 0:
            raise self._failure()

    def ask_to_end(self) -> None:
        self._process.terminate()

    def end(self, grace_s: float = 0.0) -> None:
        """Terminate the command; after the grace period, kill it and all its children."""
        self.ask_to_end()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(grace_s)
        with suppress(ProcessLookupError):
            # Children of the command may outlive its own end.
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._watchdog.dismiss()

    def _failure(self) -> CommandFailedError:
        tail = "\n".join(self.output.splitlines()[-_TAIL_LINES:])
        return CommandFailedError(
            f"{self._what} ended with status {self.status}. The end of its output: {tail}"
        )
