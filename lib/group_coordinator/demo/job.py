"""The job's process in the demo, with its first response and the duration of its batches."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import DecodeError, Struct, json

from group_coordinator.clients.admin import descriptions
from group_coordinator.clients.channel.channel import Channel
from group_coordinator.demo.folder import DemoFolder
from group_coordinator.local.child_process import ChildProcess
from group_coordinator.local.java import python_module

_START_TIMEOUT_MS = 180_000
_POLL_S = 0.1


class _Progress(Struct):
    batch_ms: int


class Job:
    """The job in a process of its own; `options` are those of job_process."""

    def __init__(self, folder: DemoFolder, *options: str) -> None:
        self._progress = folder.progress
        module = "group_coordinator.demo.job_process"
        self._process = ChildProcess(
            "The job",
            python_module(module, str(folder.settings), str(self._progress), *options),
            folder.output("job"),
            folder.scratch,
        )

    def check_alive(self) -> None:
        """Raise CommandFailedError if the process ended."""
        self._process.check_alive()

    def await_first_answer(self, channel: Channel, pause: Callable[[float], None]) -> None:
        """Return when the job responds."""
        question = descriptions.describe_group("is anybody there?")
        reply = channel.send(question, timeout_ms=_START_TIMEOUT_MS)
        while not reply.done():
            self.check_alive()
            pause(_POLL_S)
        reply.result()

    def batch_s(self) -> float | None:
        """Return the duration of the last batch; None before the first batch is done."""
        try:
            return json.decode(self._progress.read_bytes(), type=_Progress).batch_ms / 1000
        except (FileNotFoundError, DecodeError):
            return None

    def ask_to_end(self) -> None:
        """Ask the process to end."""
        self._process.ask_to_end()

    def end(self, grace_s: float) -> None:
        """Return when it has ended; a running batch is finished first, if the grace time is long enough."""
        self._process.end(grace_s)
