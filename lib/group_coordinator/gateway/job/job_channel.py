"""Channel to the job over its two topics, for the event loop: requests out, responses in, without blocking calls."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from group_coordinator.clients.channel import channel
from group_coordinator.clients.channel.channel import Body
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.job.events_out import EventsOut, OutgoingEvent
from group_coordinator.gateway.job.requests import GroupRequest, NoAnswerError, PendingRequests
from group_coordinator.gateway.job.responses_in import ResponsesIn
from group_coordinator.gateway.job.sightings import Sighting, sighted


class Arrival(NamedTuple):
    """Response to this gateway, or a response that says something about a group."""

    correlation_id: str | None
    """None: the response to another client."""
    body: Body
    """Body, empty for another client's response."""
    sighting: Sighting | None


def read(value: bytes, name: str) -> Arrival | None:
    """Parse a response.

    Correlation ids of this gateway begin with `name`. None: another client's response that says nothing of its group.
    """
    found = channel.read(value, name)
    if found is None:
        return None
    head, body = found
    try:
        sighting = sighted(head)
    except (ValueError, RecursionError):
        sighting = None  # the waiting client gets an error
    if body is not None:
        return Arrival(head.correlation_id, body, sighting)
    return None if sighting is None else Arrival(None, {}, sighting)


_LOOK_S = 0.02


class ChannelTopics(NamedTuple):
    """Topics of events and responses, and the size limit of an event."""

    events: str
    responses: str
    event_max_bytes: int


class JobChannel:
    """Channel to the job. All methods belong to the event loop; two threads talk to Kafka.

    Responses count from the start of reading: after a restart clients repeat their pending requests.
    """

    def __init__(
        self,
        connection: Connection,
        topics: ChannelTopics,
        *,
        answer_timeout_ms: int,
        on_sighting: Callable[[Sighting], None],
    ) -> None:
        """Take the callback `on_sighting` for the groups of responses, which the event loop calls."""
        instance = uuid.uuid4()
        # Gateways spread over the partitions of the responses topic.
        self._lot = instance.int
        self._open = PendingRequests(instance.hex)
        self._event_max_bytes = topics.event_max_bytes
        self._answer_timeout_s = answer_timeout_ms / 1000
        self._on_sighting = on_sighting
        self._loop: asyncio.AbstractEventLoop | None = None
        self._events = EventsOut(
            connection,
            topics.events,
            timeout_ms=answer_timeout_ms,
            max_event_bytes=topics.event_max_bytes,
            on_failure=self._failed_in_thread,
        )
        self._responses = ResponsesIn(connection, topics.responses, self._arrived_in_thread)
        self.answered_s: float | None = None
        """Time of the job's last response to this gateway, by the monotonic clock; None: there was none."""

    def start(self) -> None:
        """Start to read and to send. Both retry while the cluster is unreachable."""
        self._loop = asyncio.get_running_loop()
        self._responses.start()
        self._events.start()

    def close(self) -> None:
        """End the threads and drop pending requests. Call it in another thread, as it blocks for a second or two."""
        self._events.close()
        self._responses.close()

    @property
    def is_reading(self) -> bool:
        return bool(self._responses.partitions)

    async def until_reading(self, timeout_s: float) -> None:
        """Return when responses can be read, or after the timeout."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while not self.is_reading:  # noqa: ASYNC110 - another thread reads
                    await asyncio.sleep(_LOOK_S)

    @property
    def open_count(self) -> int:
        """Number of pending requests, waiting JoinGroups included."""
        return len(self._open)

    def ask(self, request: GroupRequest) -> asyncio.Future[Body]:
        """Send the request. The future returns the body of the response, or raises NoAnswerError."""
        correlation_id, answer = self._open.add(request.timeout_s)
        partitions = self._responses.partitions
        if not partitions:
            self._fail(correlation_id, ErrorCode.COORDINATOR_NOT_AVAILABLE)
            return answer
        value = request.event(correlation_id, partitions[self._lot % len(partitions)])
        if len(value) > self._event_max_bytes:
            self._fail(correlation_id, ErrorCode.INVALID_REQUEST)
            return answer
        # A JoinGroup may wait for minutes, but it must be sent as soon as all others.
        send_by_s = time.monotonic() + min(request.timeout_s, self._answer_timeout_s)
        client = request.caller.payer
        event = OutgoingEvent(correlation_id, request.group_id, value, send_by_s, client)
        if not self._events.put(event):
            self._fail(correlation_id, ErrorCode.COORDINATOR_NOT_AVAILABLE)
        return answer

    def _fail(self, correlation_id: str, code: ErrorCode) -> None:
        self._open.fail(correlation_id, NoAnswerError(code))

    def _failed_in_thread(self, correlation_id: str, code: ErrorCode) -> None:
        self._in_loop(partial(self._fail, correlation_id, code))

    def _arrived_in_thread(self, values: Iterable[bytes]) -> None:
        name = self._open.name
        found = [arrival for value in values if (arrival := read(value, name)) is not None]
        if found:
            self._in_loop(partial(self._take, found))

    def _in_loop(self, work: Callable[[], None]) -> None:
        # A thread may deliver its last result after the loop's end.
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(work)

    def _take(self, arrivals: Sequence[Arrival]) -> None:
        for arrival in arrivals:
            # The sighting is first, so that a client with a response sees the group in the same state.
            if arrival.sighting is not None:
                self._on_sighting(arrival.sighting)
            if arrival.correlation_id is not None and self._open.answer(
                arrival.correlation_id, arrival.body
            ):
                self.answered_s = time.monotonic()
