"""Whether the job answers: it should, a while after it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from math import inf
from time import monotonic

from group_coordinator.clients.channel.channel import Body
from group_coordinator.gateway.job.requests import ASKER, Job, Question
from group_coordinator.gateway.served import PARKED_APIS

_PROBED = "gateway"
"""A group that need not exist."""


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
        self._probed_s = -inf

    def ask(self, question: Question) -> asyncio.Future[Body]:
        """As the job does."""
        if self._waiting_since_s is None and question.api not in PARKED_APIS:
            self._waiting_since_s = self._clock_s()
        answer = self._job.ask(question)
        answer.add_done_callback(self._answered)
        return answer

    def why_not_ready(self) -> str | None:
        """None: it has answered since it was asked, or it still has time.

        A job that was silent is asked from here: nobody sends clients to a gateway that is not ready.
        """
        since_s, now_s = self._waiting_since_s, self._clock_s()
        if since_s is None or now_s - since_s <= self._answer_timeout_s:
            return None
        if now_s - self._probed_s > self._answer_timeout_s:
            self._probed_s = now_s
            self._job.ask(_probe(self._answer_timeout_s)).add_done_callback(self._answered)
        return f"the job has answered nothing for {now_s - since_s:.0f} seconds"

    def _answered(self, answer: asyncio.Future[Body]) -> None:
        if not answer.cancelled() and answer.exception() is None:
            self._waiting_since_s = None


def _probe(timeout_s: float) -> Question:
    """A question that changes nothing."""
    return Question("DescribeGroups", 5, _PROBED, {"groups": [_PROBED]}, ASKER, timeout_s)
