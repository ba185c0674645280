"""Pipeline of a connection: its pending requests, and the responses of its broker, which are forwarded or rewritten.

A client of Kafka may send several requests without waiting, and reads the responses in the order of its requests. Some are made by
the broker, some by the job, after milliseconds or minutes. No response may overtake another, and no memory may pile up.

1. A request gets a slot behind all earlier slots (`RequestReader` in requests.py): `expect` for a forwarded request, `answer` for a
   local response that is ready, `promise` for a local response that comes later.
2. Forwarded bytes go to the broker as they arrive. Brokers respond in order, so `owed` lists the slots of their responses.
3. `AnswerReader` lets a broker's response through only if its slot is the first. Otherwise the broker's connection is not read
   any further: TCP then holds its data back at the broker, not in this process.
4. A response without addresses is forwarded piece by piece; another response is collected and rewritten into its slot.
5. `flush` sends the ready responses from the first slot on, until a slot has none or the client's connection is full. A slot that
   is free lets both connections continue.

Requests of the gateway itself (`ask_aside`, about the rights of the client) use the connection to the broker too, as the broker
knows the login only there. They have a place in `owed` and no slot.
"""

from __future__ import annotations

import asyncio
from asyncio import Future
from collections import deque
from collections.abc import Awaitable, Callable
from struct import Struct
from typing import Any

from group_coordinator.codecs import wire
from group_coordinator.codecs.wire import WireError
from group_coordinator.gateway.api_versions import Aside, Slot
from group_coordinator.gateway.cluster.broker_links import CLIENT_ID
from group_coordinator.gateway.connections.admission import Share
from group_coordinator.gateway.connections.tcp_connection import TcpConnection
from group_coordinator.gateway.frames import Course, FrameError, FrameFollower

MOST_OPEN_REQUESTS = 100
"""Limit of pending requests. A connection at the limit is read again after its next response."""
_ASIDES_CORRELATION_ID = 0


class Exchange:
    """Pending requests whose responses leave in order. A local response holds back the broker's responses behind it.

    The broker's responses are held back by not reading them, so that nothing piles up.
    """

    def __init__(
        self,
        connect: Callable[[], None],
        fail: Callable[[BaseException], None],
        share: Share,
        waits: Callable[[], None],
    ) -> None:
        """Take the callbacks.

        Args:
            connect: called when a broker is needed.
            fail: called when a local response fails.
            share: the open bytes of the client.
            waits: called when a local response cannot leave yet.
        """
        self._connect = connect
        self._fail = fail
        self._waits = waits
        self.share = share
        self._answering: set[Future[bytes]] = set()
        self.client: TcpConnection | None = None
        self.upstream: TcpConnection | None = None
        self.slots: deque[Slot] = deque()
        self.owed: deque[Slot | Aside | None] = deque()
        """Slots whose responses the broker owes; None: a response to discard."""
        self.most_open = MOST_OPEN_REQUESTS
        """Limit of pending requests."""
        self.is_draining = False
        self.is_held = False
        """The next request must wait until the one before it is forwarded."""
        self._has_slot_left = False
        self.waiting_bytes = 0
        """Bytes of delayed local responses that cannot leave yet."""

    @property
    def takes_requests(self) -> bool:
        return len(self.slots) < self.most_open and not self.is_draining and not self.is_held

    def has_upstream(self) -> bool:
        """Return True if a request can be forwarded. Otherwise the broker is being connected."""
        if self.upstream is not None:
            return True
        self._connect()
        return False

    def expect(self, slot: Slot) -> None:
        """Add a request that the broker answers."""
        self.slots.append(slot)
        self.owed.append(slot)

    def promise(self, slot: Slot, answer: Awaitable[bytes]) -> None:
        """Add a request whose local response follows later."""
        self.slots.append(slot)
        self._fill(slot, answer)

    def answer(self, slot: Slot, answer: bytes) -> None:
        """Add a request with its local response."""
        slot.answer = answer
        self.slots.append(slot)
        self.flush()

    def send_on(self, data: bytes | bytearray | memoryview) -> None:
        """Send bytes to the broker."""
        if self.upstream is not None:
            self.upstream.write(data)

    def ask_aside(self, api: str, version: int, body: dict[str, Any]) -> Future[dict[str, Any]]:
        """Send a request of the gateway on the client's connection. The future is cancelled if the broker hangs up."""
        answer: Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        if self.upstream is None:
            answer.cancel()
            return answer
        self.owed.append(Aside(api, version, answer))
        self.send_on(wire.request(api, version, _ASIDES_CORRELATION_ID, CLIENT_ID, body))
        return answer

    def release(self) -> None:
        """Accept requests of the client again."""
        self.is_held = False
        self._let_go_on()

    def lose_upstream(self) -> None:
        """Drop the broker's connection, and all pending responses of the broker."""
        self.upstream = None
        for owed in self.owed:
            if isinstance(owed, Aside):
                owed.answer.cancel()
        self.owed.clear()

    def passed(self) -> None:
        """End the first request, whose response was forwarded."""
        self.owed.popleft()
        self._leave()

    def read(self, frame: memoryview) -> None:
        """Handle a collected response: to a request of the gateway, or to rewrite.

        Raises:
            WireError: the response does not parse.
        """
        owed = self.owed.popleft()
        if isinstance(owed, Aside):
            _, body = wire.response_body(owed.api, owed.version, frame)
            if not owed.answer.done():
                owed.answer.set_result(body)
            return
        # Brokers answer in order, so the response is for the first slot.
        slot = self.slots[0]
        if slot.rewriting is None:
            raise RuntimeError(f"{slot.api.name}: a response was collected without a reader")
        answer = slot.rewriting(frame)
        if isinstance(answer, bytes):
            slot.answer = answer
        else:
            self._fill(slot, answer)

    def flush(self) -> None:
        """Send the ready responses, then resume the connections that waited for a free slot."""
        client = self.client
        # A full connection continues in `line_has_room`.
        while self.slots and client is not None and not client.is_full:
            answer = self.slots[0].answer
            if answer is None:
                break
            self._leave()
            client.write(answer)
        if self._has_slot_left:
            self._has_slot_left = False
            self._let_go_on()

    def forget(self) -> None:
        """Drop all pending requests, as the client is gone."""
        self.slots.clear()
        self.waiting_bytes = 0
        for task in tuple(self._answering):
            task.cancel()

    def _leave(self) -> None:
        slot = self.slots.popleft()
        self.waiting_bytes -= slot.waiting_bytes
        if slot.size:
            self.share.give_back(slot.size)
        self._has_slot_left = True

    def _let_go_on(self) -> None:
        # A connection waits until a slot is free: then another slot is the first, or a request fits.
        for line, other in ((self.upstream, self.client), (self.client, self.upstream)):
            if line is not None and line.waits and not (other is not None and other.is_full):
                line.go_on()

    def _fill(self, slot: Slot, answer: Awaitable[bytes]) -> None:
        task = asyncio.ensure_future(answer)
        self._answering.add(task)
        task.add_done_callback(lambda done: self._filled(slot, done))

    def _filled(self, slot: Slot, done: Future[bytes]) -> None:
        self._answering.discard(done)
        if done.cancelled():
            self._give_up(slot)
            return
        error = done.exception()
        if error is not None:
            self._fail(error)
            return
        slot.answer = done.result()
        slot.waiting_bytes = len(slot.answer)
        self.waiting_bytes += slot.waiting_bytes
        self.flush()
        if self.waiting_bytes and self.client is not None and self.client.is_open:
            self._waits()

    def _give_up(self, slot: Slot) -> None:
        # Responses keep their order, so without this response no later response can leave.
        if slot in self.slots and self.client is not None:
            self.client.close()


_HEAD = Struct(">ii")
_SIZES = range(4, 1 << 31)
"""Kafka's brokers have no lower limit of response sizes."""


class AnswerReader:
    """Matches each response of the broker to its slot: brokers answer in the order of requests."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    def follower(self) -> FrameFollower:
        """Frame follower for the broker's connection."""
        return FrameFollower(self, _HEAD.size, _SIZES)

    def begin(self, data: memoryview, at: int) -> Course:
        """Accept only the response to the first pending request."""
        owed, slots = self._exchange.owed, self._exchange.slots
        if not owed:
            raise FrameError("a response without a request")
        slot = owed[0]
        if slot is None:
            owed.popleft()
            return Course.DROP
        if isinstance(slot, Aside):
            return Course.COLLECT
        if not slots or slots[0] is not slot:  # without any, the client is going
            # A local response before it has not left yet.
            return Course.WAIT
        _, correlation_id = _HEAD.unpack_from(data, at)
        if correlation_id != slot.correlation_id:
            raise FrameError(
                f"the response to {slot.api.name} has correlation id {correlation_id}, not {slot.correlation_id}"
            )
        return Course.PASS if slot.rewriting is None else Course.COLLECT

    def pass_on(self, piece: memoryview) -> None:
        if self._exchange.client is not None:
            self._exchange.client.write(piece)

    def passed(self) -> None:
        self._exchange.passed()

    def collected(self, frame: bytearray) -> None:
        """Handle a response that may contain addresses.

        Raises:
            FrameError: the response does not parse.
        """
        try:
            self._exchange.read(memoryview(frame)[4:])
        except WireError as error:
            raise FrameError(str(error)) from error

    def dropped(self) -> None: ...
