"""Pipeline of a connection: its pending requests, and the responses of its broker, which are forwarded or rewritten.

A client may send several requests without waiting, and reads the responses in the order of its requests. Some come from the
broker, some from the job, after milliseconds or minutes. No response may overtake another, and no memory may pile up:

1. A request queues behind all earlier requests: `expect` for a forwarded request, `answer` for a local response that is ready,
   `promise` for a local response that comes later. Brokers respond in order, so `owed` lists the entries that they owe.
2. `ResponseMatcher` lets a broker's response through only if its entry is the first. Otherwise the broker's connection is not read
   any further: TCP then holds its data back at the broker, not in this process.
3. A response without addresses is forwarded piece by piece; another response is collected and rewritten into its entry.
4. `flush` sends the ready responses from the first entry on, and lets both connections continue where a place is free.

Requests of the gateway itself (`ask_aside`, about the rights of the client) use the connection to the broker too, as the broker
knows the login only there. They have a place in `owed` and no entry in the queue.
"""

from __future__ import annotations

import asyncio
from asyncio import Future
from collections import deque
from collections.abc import Awaitable, Callable
from struct import Struct
from typing import Any, NamedTuple

from group_coordinator.codecs import wire
from group_coordinator.codecs.wire import WireError
from group_coordinator.gateway.api_versions import Rewriting, ServedApi
from group_coordinator.gateway.cluster.broker_links import CLIENT_ID
from group_coordinator.gateway.connections.admission import Share
from group_coordinator.gateway.connections.tcp_connection import TcpConnection
from group_coordinator.gateway.frames import FrameError, FrameFollower, FrameRoute

MOST_OPEN_REQUESTS = 100
"""Limit of pending requests. A connection at the limit is read again after its next response."""
_ASIDES_CORRELATION_ID = 0


class PipelineEntry:
    """Pending request. Responses leave in the order of requests."""

    __slots__ = ("answer", "api", "correlation_id", "rewriting", "size", "version", "waiting_bytes")

    def __init__(
        self, api: ServedApi, version: int, correlation_id: int, rewriting: Rewriting | None = None
    ) -> None:
        self.api = api
        self.version = version
        self.correlation_id = correlation_id
        self.rewriting = rewriting
        """None: the broker's response is forwarded unchanged, or the response is local."""
        self.size = 0
        """bytes of the request, if they count for its client's limit."""
        self.waiting_bytes = 0
        """bytes of the response, if it counts as waiting."""
        self.answer: bytes | None = None
        """Response to send; None: it is still to come, or it is forwarded."""


class GatewayRequest(NamedTuple):
    """Request of the gateway itself on a client's connection to a broker. The client does not get the response."""

    api: str
    version: int
    answer: Future[dict[str, Any]]


class Pipeline:
    """Pending requests whose responses leave in order. A local response holds back the broker's responses behind it."""

    def __init__(
        self,
        connect: Callable[[], None],
        fail: Callable[[BaseException], None],
        share: Share,
        waits: Callable[[], None],
    ) -> None:
        """Take callbacks: `connect` to a broker, `fail` after a failed local response, `waits` when a response cannot leave yet."""
        self._connect = connect
        self._fail = fail
        self._waits = waits
        self.share = share
        self._answering: set[Future[bytes]] = set()
        self.client: TcpConnection | None = None
        self.upstream: TcpConnection | None = None
        self.queue: deque[PipelineEntry] = deque()
        self.owed: deque[PipelineEntry | GatewayRequest | None] = deque()
        """Slots whose responses the broker owes; None: a response to discard."""
        self.most_open = MOST_OPEN_REQUESTS
        self.is_draining = False
        self.is_held = False
        """The next request must wait until the one before it is forwarded."""
        self._has_slot_left = False
        self.waiting_bytes = 0
        """Bytes of delayed local responses that cannot leave yet."""

    @property
    def takes_requests(self) -> bool:
        return len(self.queue) < self.most_open and not self.is_draining and not self.is_held

    def has_upstream(self) -> bool:
        """Return True if a request can be forwarded. Otherwise the broker is being connected."""
        if self.upstream is not None:
            return True
        self._connect()
        return False

    def expect(self, pending: PipelineEntry) -> None:
        self.queue.append(pending)
        self.owed.append(pending)

    def promise(self, pending: PipelineEntry, response: Awaitable[bytes]) -> None:
        self.queue.append(pending)
        self._fill(pending, response)

    def answer(self, pending: PipelineEntry, response: bytes) -> None:
        pending.answer = response
        self.queue.append(pending)
        self.flush()

    def send_on(self, data: bytes | bytearray | memoryview) -> None:
        if self.upstream is not None:
            self.upstream.write(data)

    def ask_aside(self, api: str, version: int, body: dict[str, Any]) -> Future[dict[str, Any]]:
        """Send a request of the gateway on the client's connection. The future is cancelled if the broker hangs up."""
        response: Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        if self.upstream is None:
            response.cancel()
            return response
        self.owed.append(GatewayRequest(api, version, response))
        self.send_on(wire.request(api, version, _ASIDES_CORRELATION_ID, CLIENT_ID, body))
        return response

    def release(self) -> None:
        self.is_held = False
        self._let_go_on()

    def lose_upstream(self) -> None:
        self.upstream = None
        for owed in self.owed:
            if isinstance(owed, GatewayRequest):
                owed.answer.cancel()
        self.owed.clear()

    def passed(self) -> None:
        self.owed.popleft()
        self._leave()

    def read(self, frame: memoryview) -> None:
        """Handle a collected response: to a request of the gateway, or to rewrite. Raises WireError: it does not parse."""
        owed = self.owed.popleft()
        if isinstance(owed, GatewayRequest):
            _, body = wire.response_body(owed.api, owed.version, frame)
            if not owed.answer.done():
                owed.answer.set_result(body)
            return
        # Brokers answer in order, so the response is for the first pending request.
        pending = self.queue[0]
        if pending.rewriting is None:
            raise RuntimeError(f"{pending.api.name}: a response was collected without a reader")
        response = pending.rewriting(frame)
        if isinstance(response, bytes):
            pending.answer = response
        else:
            self._fill(pending, response)

    def flush(self) -> None:
        """Send the ready responses, then resume the connections that waited for a free place in the queue."""
        client = self.client
        # A full connection continues in `line_has_room`.
        while self.queue and client is not None and not client.is_full:
            response = self.queue[0].answer
            if response is None:
                break
            self._leave()
            client.write(response)
        if self._has_slot_left:
            self._has_slot_left = False
            self._let_go_on()

    def forget(self) -> None:
        self.queue.clear()
        self.waiting_bytes = 0
        for task in tuple(self._answering):
            task.cancel()

    def _leave(self) -> None:
        pending = self.queue.popleft()
        self.waiting_bytes -= pending.waiting_bytes
        if pending.size:
            self.share.give_back(pending.size)
        self._has_slot_left = True

    def _let_go_on(self) -> None:
        # A connection waits until a place is free: then another request is the first, or a request fits.
        for line, other in ((self.upstream, self.client), (self.client, self.upstream)):
            if line is not None and line.waits and not (other is not None and other.is_full):
                line.go_on()

    def _fill(self, pending: PipelineEntry, response: Awaitable[bytes]) -> None:
        task = asyncio.ensure_future(response)
        self._answering.add(task)
        task.add_done_callback(lambda done: self._filled(pending, done))

    def _filled(self, pending: PipelineEntry, done: Future[bytes]) -> None:
        self._answering.discard(done)
        if done.cancelled():
            # Responses keep their order, so without this response no later response can leave.
            if pending in self.queue and self.client is not None:
                self.client.close()
            return
        error = done.exception()
        if error is not None:
            self._fail(error)
            return
        pending.answer = done.result()
        pending.waiting_bytes = len(pending.answer)
        self.waiting_bytes += pending.waiting_bytes
        self.flush()
        if self.waiting_bytes and self.client is not None and self.client.is_open:
            self._waits()


_HEAD = Struct(">ii")
_SIZES = range(4, 1 << 31)
"""Kafka's brokers have no lower limit of response sizes."""


class ResponseMatcher:
    """Matches each response of the broker to its request: brokers answer in the order of requests."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline

    def follower(self) -> FrameFollower:
        return FrameFollower(self, _HEAD.size, _SIZES)

    def begin(self, data: memoryview, at: int) -> FrameRoute:
        """Accept only the response to the first pending request."""
        owed, queue = self._pipeline.owed, self._pipeline.queue
        if not owed:
            raise FrameError("a response without a request")
        pending = owed[0]
        if pending is None:
            owed.popleft()
            return FrameRoute.DROP
        if isinstance(pending, GatewayRequest):
            return FrameRoute.COLLECT
        if not queue or queue[0] is not pending:  # without any, the client is going
            # A local response before it has not left yet.
            return FrameRoute.WAIT
        _, correlation_id = _HEAD.unpack_from(data, at)
        if correlation_id != pending.correlation_id:
            raise FrameError(
                f"the response to {pending.api.name} has correlation id {correlation_id}, not {pending.correlation_id}"
            )
        return FrameRoute.PASS if pending.rewriting is None else FrameRoute.COLLECT

    def pass_on(self, piece: memoryview) -> None:
        if self._pipeline.client is not None:
            self._pipeline.client.write(piece)

    def passed(self) -> None:
        self._pipeline.passed()

    def collected(self, frame: bytearray) -> None:
        # Only responses that may contain addresses are collected.
        try:
            self._pipeline.read(memoryview(frame)[4:])
        except WireError as error:
            raise FrameError(str(error)) from error

    def dropped(self) -> None: ...
