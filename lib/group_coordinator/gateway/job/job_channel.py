"""Channel to the job over its two topics, for the event loop: requests out, responses in, without blocking calls.

A thread reads the whole responses topic, from now on. A GroupRequest is an API call for a group: its event, and the wait.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from kafka.errors import KafkaError

from group_coordinator.background import Background, keep_trying
from group_coordinator.clients import channel
from group_coordinator.clients.channel import Body, PendingReplies, Request, ResponseReader
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.errors import ChannelError
from group_coordinator.core.acls import THE_JOB
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.job.events_out import CLOSE_TIMEOUT_S, EventsOut, OutgoingEvent
from group_coordinator.gateway.job.sightings import Sighting, sighted
from group_coordinator.gateway.login import Caller

if TYPE_CHECKING:
    from group_coordinator.gateway.job.replica import Replica, StateRequest

_POLL_MS = 100
_RETRY_S = 1.0
_NEW_PARTITIONS_MS = 10_000
"""Interval of metadata requests, as the topic may get more partitions while the gateway runs."""

_log = logging.getLogger(__name__)


class RecordsIn:
    """Reader of a whole topic from now on: of the responses to all clients, or of all events."""

    def __init__(
        self, connection: Connection, topic: str, on_records: Callable[[Iterator[Any]], None]
    ) -> None:
        """Take the callback `on_records` for new records, which the reading thread calls."""
        self._connection = connection
        self._topic = topic
        self._on_records = on_records
        self._thread = Background(self._run, f"gateway-{topic}")
        self._positions: dict[int, int] = {}
        """Next offsets by partition, kept while the topic cannot be read, so that nothing is lost."""
        self.partitions: Sequence[int] = ()
        """Partitions that are read; empty: the topic cannot be read."""
        self._logged = ""
        """The failure that the log has; empty: the topic was read since."""

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._thread.end(CLOSE_TIMEOUT_S)

    def _run(self, ended: Event) -> None:
        try:
            keep_trying(
                partial(self._read, ended),
                ended,
                pause_s=_RETRY_S,
                passes=lambda failure: isinstance(failure, KafkaError | ChannelError),
                say=self._say,
            )
        finally:
            self.partitions = ()

    def _say(self, failure: BaseException, _attempt: int) -> None:
        # A missing topic would be logged each second.
        if str(failure) != self._logged:
            self._logged = str(failure)
            _log.warning("%s cannot be read: %s", self._topic, failure)

    def _read(self, ended: Event) -> None:
        self.partitions = ()
        reader = ResponseReader(
            self._connection, self._topic, self._positions, metadata_max_age_ms=_NEW_PARTITIONS_MS
        )
        with closing(reader):
            reader.begin(reader.partitions_of(self._topic))
            self._logged = ""
            while not ended.is_set():
                # Set after `begin`, so that no request names a partition that is not read yet.
                self.partitions = reader.numbers
                self._on_records(reader.poll_records(_POLL_MS))
                reader.add_new_partitions()


ASKER = Caller("gateway", "/gateway", "User:gateway", None)


class GroupRequest(NamedTuple):
    api: str
    version: int
    group_id: str
    body: Body
    caller: Caller
    timeout_s: float

    def event(self, correlation_id: str, reply_partition: int | None) -> bytes:
        """Value of the event's record; the key is the group id."""
        client_id, client_host, principal, _ = self.caller
        request = Request(self.api, self.version, self.group_id, self.body, client_id)
        return request.event(correlation_id, reply_partition, client_host, principal)


class NoAnswerError(Exception):
    """The job did not answer, or the request was not sent. The client gets an error response with the code."""

    def __init__(self, code: ErrorCode) -> None:
        super().__init__(code.name)
        self.code = code


class JobClient(Protocol):
    """Interface of the job: its two topics, or in tests the state machine in this process."""

    def ask(self, request: GroupRequest) -> asyncio.Future[Body]:
        """Send the request before this returns; a group's requests keep the order of calls.

        The future returns the body of the response, or raises NoAnswerError. A cancelled future drops the request.
        """


class PendingRequests(PendingReplies[asyncio.Future[Body]]):
    """Pending requests with deadlines in the heap of the event loop."""

    def add(self, timeout_s: float) -> tuple[str, asyncio.Future[Body]]:
        """Add a request; return its correlation id and the future of its response."""
        loop = asyncio.get_running_loop()
        response: asyncio.Future[Body] = loop.create_future()
        correlation_id = self.put(response)
        # A timer for each request, as a JoinGroup may wait for minutes and a commit for seconds.
        timer = loop.call_later(timeout_s, self._give_up, correlation_id)

        def forget(_: asyncio.Future[Body]) -> None:
            timer.cancel()
            self._pending.pop(correlation_id, None)

        # Also if the client is gone and its future is cancelled: nothing may stay behind.
        response.add_done_callback(forget)
        return correlation_id, response

    def _give_up(self, correlation_id: str) -> None:
        # All clients look for the coordinator again after error 15, and repeat the request.
        self.fail(correlation_id, NoAnswerError(ErrorCode.COORDINATOR_NOT_AVAILABLE))


class ReceivedResponse(NamedTuple):
    """Response to this gateway, or a response that says something about a group."""

    correlation_id: str | None
    """None: the response to another client."""
    body: Body
    sighting: Sighting | None


def read(value: bytes, name: str) -> ReceivedResponse | None:
    """Parse a response to this gateway, whose correlation ids begin with `name`, or one that says something of its group."""
    found = channel.read(value, name)
    if found is None:
        return None
    head, body = found
    try:
        sighting = sighted(head)
    except (ValueError, RecursionError):
        sighting = None  # the waiting client gets an error
    if body is not None:
        return ReceivedResponse(head.correlation_id, body, sighting)
    return None if sighting is None else ReceivedResponse(None, {}, sighting)


_LOOK_S = 0.02


class ChannelTopics(NamedTuple):
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
        self._responses = RecordsIn(connection, topics.responses, self._arrived_in_thread)
        self._all_events = RecordsIn(connection, topics.events, self._read_in_thread)
        self.replica: Replica | None = None
        """Answers requests before the job; None: only the job does."""

    def start(self) -> None:
        """Start to read and to send. Both retry while the cluster is unreachable."""
        self._loop = asyncio.get_running_loop()
        self._responses.start()
        self._events.start()

    def follow(self, make: Callable[[str, Callable[[str, bytes], bool]], Replica]) -> None:
        """Answer requests by a replica too; `make` receives the beginning of own correlation ids, and the way to answer."""
        self.replica = make(self._open.name, self._answer_early)
        self._all_events.start()

    def close(self) -> None:
        """End the threads and drop pending requests. Call it in another thread, as it blocks for a second or two."""
        self._events.close()
        self._responses.close()
        if self.replica is not None:
            self._all_events.close()

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
        return len(self._open)

    def ask(self, request: GroupRequest) -> asyncio.Future[Body]:
        """Send the request. The future returns the body of the response, or raises NoAnswerError."""
        correlation_id, response = self._open.add(request.timeout_s)
        if self.replica is not None and self._sees_events:
            self._read_state(self.replica.ask(request.group_id), request.caller)
        self._put(request, correlation_id, request.caller.payer)
        return response

    def expect(self, group_id: str, caller: Caller) -> None:
        """Ask the job for a group's state before the first request to it."""
        if self.replica is not None and self._sees_events:
            self._read_state(self.replica.expect(group_id), caller)

    def has_open_transactions(self, group_id: str) -> bool:
        return self.replica is not None and self.replica.has_open_transactions(group_id)

    @property
    def _sees_events(self) -> bool:
        # From its positions on, the reader misses no event behind a ReadState.
        return bool(self._all_events.partitions)

    def _read_state(self, asked: StateRequest | None, caller: Caller) -> None:
        if asked is None:
            return
        job = caller._replace(principal=THE_JOB)
        timeout_s = self._answer_timeout_s
        request = GroupRequest("ReadState", 0, asked.group_id, asked.body, job, timeout_s=timeout_s)
        # The same payer, or the state would not be in the queue before the request.
        self._put(request, asked.correlation_id, caller.payer)

    def _put(self, request: GroupRequest, correlation_id: str, client: str) -> None:
        partitions = self._responses.partitions
        if not partitions:
            self._fail(correlation_id, ErrorCode.COORDINATOR_NOT_AVAILABLE)
            return
        value = request.event(correlation_id, partitions[self._lot % len(partitions)])
        if len(value) > self._event_max_bytes:
            self._fail(correlation_id, ErrorCode.INVALID_REQUEST)
            return
        # A JoinGroup may wait for minutes, but it must be sent as soon as all others.
        send_by_s = time.monotonic() + min(request.timeout_s, self._answer_timeout_s)
        event = OutgoingEvent(correlation_id, request.group_id, value, send_by_s, client)
        if not self._events.put(event):
            self._fail(correlation_id, ErrorCode.COORDINATOR_NOT_AVAILABLE)

    def _fail(self, correlation_id: str, code: ErrorCode) -> None:
        self._open.fail(correlation_id, NoAnswerError(code))

    def _failed_in_thread(self, correlation_id: str, code: ErrorCode) -> None:
        self._in_loop(partial(self._fail, correlation_id, code))

    def _arrived_in_thread(self, records: Iterator[Any]) -> None:
        values = [record.value for record in records if record.value is not None]
        if self.replica is not None:
            self._in_loop(partial(self._compare, self.replica, values))
        elif found := self._read(values):
            self._in_loop(partial(self._take, found))

    def _compare(self, replica: Replica, values: Sequence[bytes]) -> None:
        self._take(self._read(replica.left_of(values)))

    def _read(self, values: Iterable[bytes]) -> Sequence[ReceivedResponse]:
        name = self._open.name
        return [arrival for value in values if (arrival := read(value, name)) is not None]

    def _read_in_thread(self, records: Iterator[Any]) -> None:
        found = list(records)
        if found and self.replica is not None:
            self._in_loop(partial(self.replica.take, found, time.time_ns() // 1_000_000))

    def _answer_early(self, correlation_id: str, value: bytes) -> bool:
        if correlation_id not in self._open:
            return False
        self._take(self._read([value]))
        return True

    def _in_loop(self, work: Callable[[], None]) -> None:
        # A thread may deliver its last result after the loop's end.
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(work)

    def _take(self, arrivals: Sequence[ReceivedResponse]) -> None:
        for arrival in arrivals:
            # The sighting is first, so that a client with a response sees the group in the same state.
            if arrival.sighting is not None:
                self._on_sighting(arrival.sighting)
            if arrival.correlation_id is not None:
                self._open.answer(arrival.correlation_id, arrival.body)
