"""The job as the demo sees it: a process that answers, and how fast its batches are."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future

from group_coordinator.clients import admin_messages
from group_coordinator.clients.member import Channel
from group_coordinator.clients.requests import Body
from group_coordinator.local.demo.processes import ChildProcess

_START_TIMEOUT_MS = 180_000
_POLL_S = 0.1


class Job:
    """Spark at work in a process of its own."""

    def __init__(self, process: ChildProcess, channel: Channel) -> None:
        self._process = process
        self._channel = channel

    def check_alive(self) -> None:
        """Raise CommandFailedError if the process ended."""
        self._process.check_alive()

    def await_first_answer(self, pause: Callable[[float], None]) -> None:
        """Return when the job answers."""
        anything = admin_messages.describe_group("is anybody there?")
        reply: Future[Body] = self._channel.send(anything, timeout_ms=_START_TIMEOUT_MS)
        while not reply.done():
            self.check_alive()
            pause(_POLL_S)
        reply.result()

    def batch_s(self) -> float | None:
        """How long the last batch took."""
        return None
