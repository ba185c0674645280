"""The open requests of a connection, and the responses of its broker: passed on as they come, or read if an address may be in them."""

from __future__ import annotations

import asyncio
from asyncio import Future
from collections import deque
from collections.abc import Awaitable, Callable
from struct import Struct
from typing import Any

from group_coordinator.codecs import wire
from group_coordinator.codecs.wire import WireError
from group_coordinator.gateway.cluster.broker_link import CLIENT_ID
from group_coordinator.gateway.connections.frames import Course, FrameError, FrameFollower
from group_coordinator.gateway.connections.line import Line
from group_coordinator.gateway.connections.shares import Share
from group_coordinator.gateway.connections.slots import Aside, Slot

MOST_OPEN_REQUESTS = 100
"""A connection that has so many is read again when one of them is answered."""
_ASIDES_CORRELATION_ID = 0


class Exchange:
    """Answers leave in the order of requests: one that is made here holds back the broker's behind it.

    The broker's are held back by not reading them, so that nothing piles up.
    """

    def __init__(
        self,
        connect: Callable[[], None],
        fail: Callable[[BaseException], None],
        share: Share,
        waits: Callable[[], None],
    ) -> None:
        """`connect` is called when a broker is needed, `fail` when an answer cannot be made, `waits` when one cannot leave yet."""
        self._connect = connect
        self._fail = fail
        self._waits = waits
        self.share = share
        self._answering: set[Future[bytes]] = set()
        self.client: Line | None = None
        self.upstream: Line | None = None
        self.slots: deque[Slot] = deque()
        self.owed: deque[Slot | Aside | None] = deque()
        """The slots whose answers the broker owes; None: an answer that nobody wants."""
        self.most_open = MOST_OPEN_REQUESTS
        """With so many open requests no further one is taken."""
        self.is_draining = False
        self.is_held = False
        """Whether the next request must not be taken before the one before it is on its way."""
        self._has_slot_left = False
        self.waiting_bytes = 0
        """Of answers that were made here, later than asked for, and cannot leave yet."""

    @property
    def takes_requests(self) -> bool:
        """Whether one more may be open."""
        return len(self.slots) < self.most_open and not self.is_draining and not self.is_held

    def has_upstream(self) -> bool:
        """Whether a request can be sent on; if not, the broker is on its way."""
        if self.upstream is not None:
            return True
        self._connect()
        return False

    def expect(self, slot: Slot) -> None:
        """The broker will answer."""
        self.slots.append(slot)
        self.owed.append(slot)

    def promise(self, slot: Slot, answer: Awaitable[bytes]) -> None:
        """The answer is made here, later."""
        self.slots.append(slot)
        self._fill(slot, answer)

    def answer(self, slot: Slot, answer: bytes) -> None:
        """The answer is here."""
        slot.answer = answer
        self.slots.append(slot)
        self.flush()

    def send_on(self, data: bytes | bytearray | memoryview) -> None:
        """To the broker."""
        if self.upstream is not None:
            self.upstream.write(data)

    def ask_aside(self, api: str, version: int, body: dict[str, Any]) -> Future[dict[str, Any]]:
        """Ask the client's broker something that the client does not; cancelled, if the broker goes."""
        answer: Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        if self.upstream is None:
            answer.cancel()
            return answer
        self.owed.append(Aside(api, version, answer))
        self.send_on(wire.request(api, version, _ASIDES_CORRELATION_ID, CLIENT_ID, body))
        return answer

    def release(self) -> None:
        """Take requests again."""
        self.is_held = False
        self._let_go_on()

    def lose_upstream(self) -> None:
        """The broker is gone, with all that it owed."""
        self.upstream = None
        for owed in self.owed:
            if isinstance(owed, Aside):
                owed.answer.cancel()
        self.owed.clear()

    def passed(self) -> None:
        """The broker's answer to the first request has been passed on."""
        self.owed.popleft()
        self._leave()

    def read(self, frame: memoryview) -> None:
        """The broker's answer to the first request is to be rewritten, or is ours.

        Raises:
            WireError: it does not parse.
        """
        owed = self.owed.popleft()
        if isinstance(owed, Aside):
            _, body = wire.response_body(owed.api, owed.version, frame)
            if not owed.answer.done():
                owed.answer.set_result(body)
            return
        slot = self.slots[0]
        if slot.rewriting is None:
            raise RuntimeError(f"{slot.api.name}: an answer was collected that nobody reads")
        answer = slot.rewriting(frame)
        if isinstance(answer, bytes):
            slot.answer = answer
        else:
            self._fill(slot, answer)

    def flush(self) -> None:
        """Send what is ready, and let go on what waited for that."""
        client = self.client
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
        """Nobody waits for the answers any more."""
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
        """A line that waits, waits for a slot to leave: another becomes the first one, or there is room for one more."""
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
        """The broker went before it said what the answer depends on: no other one can leave before this one does."""
        if slot in self.slots and self.client is not None:
            self.client.close()


_HEAD = Struct(">ii")
_SIZES = range(4, 1 << 31)
"""A broker may answer with as much as its settings let it."""


class AnswerReader:
    """Gives each answer to the slot that waits for it: brokers answer in the order of requests."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    def follower(self) -> FrameFollower:
        """For the line to the broker."""
        return FrameFollower(self, _HEAD.size, _SIZES)

    def begin(self, data: memoryview, at: int) -> Course:
        """Only the answer to the first open request may be taken."""
        owed, slots = self._exchange.owed, self._exchange.slots
        if not owed:
            raise FrameError("an answer without a request")
        slot = owed[0]
        if slot is None:
            owed.popleft()
            return Course.DROP
        if isinstance(slot, Aside):
            return Course.COLLECT
        if not slots or slots[0] is not slot:  # without any, the client is going
            return Course.WAIT
        _, correlation_id = _HEAD.unpack_from(data, at)
        if correlation_id != slot.correlation_id:
            raise FrameError(
                f"the answer to {slot.api.name} has correlation id {correlation_id}, not {slot.correlation_id}"
            )
        return Course.PASS if slot.rewriting is None else Course.COLLECT

    def pass_on(self, piece: memoryview) -> None:
        """To the client."""
        if self._exchange.client is not None:
            self._exchange.client.write(piece)

    def passed(self) -> None:
        """The next slot is the first one now."""
        self._exchange.passed()

    def collected(self, frame: bytearray) -> None:
        """Where addresses may be in it.

        Raises:
            FrameError: it does not parse.
        """
        try:
            self._exchange.read(memoryview(frame)[4:])
        except WireError as error:
            raise FrameError(str(error)) from error

    def dropped(self) -> None:
        """Nobody waited for it."""
