"""Questions without an answer yet: a future and a timer for each, all in the event loop."""

from __future__ import annotations

import asyncio
from itertools import count

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.job.questions import Body, NoAnswerError


class OpenQuestions:
    """Futures by correlation id; the event loop keeps their deadlines in a heap.

    An answer completes its future once. An answer that comes twice, or to somebody else, finds none and is dropped.
    """

    def __init__(self, name: str) -> None:
        """Correlation ids begin with `name`, by which answers are told from those to others."""
        self.name = name
        self._numbers = count(1)
        self._open: dict[str, asyncio.Future[Body]] = {}

    def __len__(self) -> int:
        return len(self._open)

    def add(self, timeout_s: float) -> tuple[str, asyncio.Future[Body]]:
        """The correlation id for a question that is about to be sent, and the future of its answer."""
        loop = asyncio.get_running_loop()
        correlation_id = f"{self.name}-{next(self._numbers)}"
        answer = self._open[correlation_id] = loop.create_future()
        # All clients look for the coordinator again when they hear 15, and repeat the request.
        timer = loop.call_later(
            timeout_s, self.fail, correlation_id, ErrorCode.COORDINATOR_NOT_AVAILABLE
        )

        def forget(_: asyncio.Future[Body]) -> None:
            timer.cancel()
            self._open.pop(correlation_id, None)

        answer.add_done_callback(forget)
        return correlation_id, answer

    def answer(self, correlation_id: str, body: Body) -> bool:
        """Whether somebody waited for it."""
        answer = self._open.pop(correlation_id, None)
        if answer is None or answer.done():
            return False
        answer.set_result(body)
        return True

    def fail(self, correlation_id: str, code: ErrorCode) -> None:
        """There will be no answer."""
        answer = self._open.pop(correlation_id, None)
        if answer is not None and not answer.done():
            answer.set_exception(NoAnswerError(code))
