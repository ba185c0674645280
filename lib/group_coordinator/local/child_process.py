"""Child processes, which never outlive this process."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

# The input is a pipe that only our process holds open: when we are gone, the read ends.
_SCRIPT = 'read -r _; kill -KILL "$1"; [ -z "$2" ] || rm -rf "$2"'


class Watchdog:
    """A shell in a session of its own, where no signal meant for us reaches it.

    Args:
        target: the process to end, as kill(2) has it: a negative one is a whole process group.
        temporary_folder: removed when we are gone before we could; None: everything stays.
    """

    def __init__(self, target: int, temporary_folder: Path | None = None) -> None:
        arguments = (str(target), str(temporary_folder or ""))
        self._process = subprocess.Popen(  # noqa: S603 - a script of our own
            ["/bin/sh", "-c", _SCRIPT, "watchdog", *arguments],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )

    def dismiss(self) -> None:
        """Nothing is to be ended any more."""
        self._process.kill()
        self._process.communicate()


_POLL_SECONDS = 0.05
_TAIL_LINES = 15


class CommandFailedError(RuntimeError):
    """A command ended when it should not, or could not do its work; carries the end of what it said."""


class ChildProcess:
    """A command in a session of its own, so that a Ctrl-C meant for the demo does not reach it.

    Args:
        what: the command, as a message names it.
        command: what to run.
        output: where all that it says goes.
        folder: where it runs, and where its temporary files go, which it cannot remove if it is ended by force; None:
            where ours do.
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
        """Its exit status; None while it runs."""
        return self._process.poll()

    @property
    def output(self) -> str:
        """What it said so far."""
        return self._output.read_text(encoding="utf-8", errors="replace")

    def check_alive(self) -> None:
        """Raise CommandFailedError if it ended."""
        if self.status is not None:
            raise self._failure()

    def await_success(self, pause: Callable[[float], None]) -> None:
        """Return when it has done its work.

        Raises:
            CommandFailedError: it ended with another status than 0.
        """
        while self.status is None:
            pause(_POLL_SECONDS)
        if self.status != 0:
            raise self._failure()

    def ask_to_end(self) -> None:
        """Let it know that its time has come."""
        self._process.terminate()

    def end(self, grace_s: float = 0.0) -> None:
        """Ask it to end; after the grace, end it and all that it started by force."""
        self.ask_to_end()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(grace_s)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._watchdog.dismiss()

    def _failure(self) -> CommandFailedError:
        tail = "\n".join(self.output.splitlines()[-_TAIL_LINES:])
        return CommandFailedError(
            f"{self._what} ended with status {self.status}. The end of what it said:\n{tail}"
        )
