"""Questions without an answer yet: a future and a timer for each, all in the event loop."""

from __future__ import annotations

import asyncio

from group_coordinator.clients.channel.pending_replies import PendingReplies
from group_coordinator.clients.channel.request import Body
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.job.questions import NoAnswerError


class OpenQuestions(PendingReplies[asyncio.Future[Body]]):
    """The event loop keeps their deadlines in a heap."""

    def add(self, timeout_s: float) -> tuple[str, asyncio.Future[Body]]:
        """The correlation id for a question that is about to be sent, and the future of its answer."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Body] = loop.create_future()
        correlation_id = self.put(answer)
        timer = loop.call_later(timeout_s, self._give_up, correlation_id)

        def forget(_: asyncio.Future[Body]) -> None:
            timer.cancel()
            self._pending.pop(correlation_id, None)

        answer.add_done_callback(forget)
        return correlation_id, answer

    def _give_up(self, correlation_id: str) -> None:
        # All clients look for the coordinator again when they hear 15, and repeat the request.
        self.fail(correlation_id, NoAnswerError(ErrorCode.COORDINATOR_NOT_AVAILABLE))
