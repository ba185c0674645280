"""Whether the job answers: it should, a while after it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic

from group_coordinator.gateway.questions import Body, Job, Question

_MAY_TAKE_LONG = frozenset({"JoinGroup", "SyncGroup"})
"""They are answered when a group has met."""


class JobPulse:
    """Passes questions on to the job, and watches the answers."""

    def __init__(
        self, job: Job, answer_timeout_ms: int, clock_s: Callable[[], float] = monotonic
    ) -> None:
        self._job = job
        self._answer_timeout_s = answer_timeout_ms / 1000
        self._clock_s = clock_s
        self._waiting_since_s: float | None = None
        """When the first question was asked that came after the last answer."""

    def ask(self, question: Question) -> asyncio.Future[Body]:
        """As the job does."""
        if self._waiting_since_s is None and question.api not in _MAY_TAKE_LONG:
            self._waiting_since_s = self._clock_s()
        answer = self._job.ask(question)
        answer.add_done_callback(self._answered)
        return answer

    def why_not_ready(self) -> str | None:
        """None: it has answered since it was asked, or it still has time."""
        since_s = self._waiting_since_s
        if since_s is None or self._clock_s() - since_s <= self._answer_timeout_s:
            return None
        return f"the job has answered nothing for {self._clock_s() - since_s:.0f} seconds"

    def _answered(self, answer: asyncio.Future[Body]) -> None:
        if not answer.cancelled() and answer.exception() is None:
            self._waiting_since_s = None
