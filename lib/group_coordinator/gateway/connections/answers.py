"""A broker's answers on one connection: passed on as they come, or read where an address may be in them."""

from __future__ import annotations

from struct import Struct

from group_coordinator.codecs.wire import WireError
from group_coordinator.gateway.connections.exchange import Exchange
from group_coordinator.gateway.connections.frames import Course, FrameError, FrameFollower
from group_coordinator.gateway.connections.slots import Aside

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
