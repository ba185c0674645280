"""The state machine in this process, in the job's place: events in order, answers after a time of one's choice."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from random import uniform

from msgspec import json

from group_coordinator.clients.channel import Body
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.job.job_channel import (
    GroupRequest,
    NoAnswerError,
    PendingRequests,
    read,
)
from group_coordinator.gateway.job.sightings import Sighting
from group_coordinator.runtime.replay_session import Replay

_TICK_S = 0.05
_OF_TRANSACTIONS = ("TxnOffsetCommit", "EndTxn")


def _wall_clock_ms() -> int:
    return int(time.time() * 1000)


class InProcessJob:
    """Answers as the job would. One event after the other, as if the events topic had one partition."""

    def __init__(
        self,
        config: CoordinatorConfig,
        *,
        on_sighting: Callable[[Sighting], None],
        delay_s: tuple[float, float] = (0.0, 0.0),
        now_ms: Callable[[], int] = _wall_clock_ms,
    ) -> None:
        self._config = config
        self._replay = Replay(config)
        self._on_sighting = on_sighting
        self._delay_s = delay_s
        self._now_ms = now_ms
        self._open = PendingRequests("in-process")
        self._topics: Sequence[Body] = ()
        self._due_s = 0.0
        self.asked: list[GroupRequest] = []
        self.refused: list[str] = []
        """Why events were dead letters; clients' requests must make none."""
        self.is_silent = False
        """Whether events get lost."""
        self.on_awaited_markers: Callable[[str, dict[int, int]], None] = lambda *_: None
        """Hears which markers a group waits for, each time that this may have changed."""

    @property
    def open_count(self) -> int:
        """How many questions have no answer yet."""
        return len(self._open)

    def learn(self, topics: Sequence[Body]) -> None:
        """The cluster's topics are exactly these: name, topicId, numPartitions."""
        if topics != self._topics:
            self._topics = topics
            self._line({"topics": topics})

    async def tick(self) -> None:
        """Let time pass for ever."""
        while True:
            await asyncio.sleep(_TICK_S)
            self.pass_time()

    def pass_time(self) -> None:
        """Let deadlines fire that are due."""
        self._line({})

    def ask(self, request: GroupRequest) -> asyncio.Future[Body]:
        self.asked.append(request)
        correlation_id, answer = self._open.add(request.timeout_s)
        event = request.event(correlation_id, None)
        if len(event) > self._config.event_max_bytes:
            self._open.fail(correlation_id, NoAnswerError(ErrorCode.INVALID_REQUEST))
        elif not self.is_silent:
            self.tell(event)
        return answer

    def tell(self, value: bytes) -> None:
        """An event is on its way, whoever wrote it."""
        loop = asyncio.get_running_loop()
        self._due_s = max(self._due_s + 1e-6, loop.time() + uniform(*self._delay_s))  # noqa: S311 - a delay, no secret
        loop.call_at(self._due_s, self._take, json.decode(value))

    def _take(self, event: Body) -> None:
        self._line({"event": event})
        if event["api"] in _OF_TRANSACTIONS:
            group_id = event["body"]["groupId"]
            self.on_awaited_markers(group_id, self._replay.awaited_markers(group_id))

    def _line(self, line: Body) -> None:
        given = {"at": self._now_ms(), **line}
        for output in self._replay.line(json.encode(given).decode()):
            if output["kind"] == "response":
                self.arrived(json.encode(output))
            elif output["kind"] == "deadLetter":
                self.refused.append(output["reason"])
            elif output["kind"] == "error":
                raise AssertionError(output["message"])

    def arrived(self, response: bytes) -> None:
        """A response passes by."""
        arrival = read(response, self._open.name)
        if arrival is None:
            return
        if arrival.sighting is not None:
            self._on_sighting(arrival.sighting)
        if arrival.correlation_id is not None:
            self._open.answer(arrival.correlation_id, arrival.body)
