"""Parser of frames in a stream: each has a size and is followed to its end. Only frames that are read are collected."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from struct import Struct
from typing import Protocol

SIZE = Struct(">i")


class FrameError(ValueError):
    """Invalid frame; the message gives the reason."""


class FrameRoute(Enum):
    PASS = auto()
    """The bytes are forwarded as they arrive."""
    LOOK = auto()
    """The bytes are forwarded, and each piece is inspected before."""
    COLLECT = auto()
    """The whole frame is delivered at its end."""
    DROP = auto()
    """The bytes are discarded."""
    WAIT = auto()
    """The frame, and all frames behind it, must wait."""
    MORE = auto()
    """More bytes are needed for a decision."""


_NOT_NOW = frozenset({FrameRoute.WAIT, FrameRoute.MORE})
_PASSED_ON = (FrameRoute.PASS, FrameRoute.LOOK)


class FrameReceiver(Protocol):
    def begin(self, data: memoryview, at: int) -> FrameRoute:
        """Decide about a frame, whose size stands first. Called again after WAIT, and after MORE with twice as many bytes, or all.

        The bytes of `data` do not change before `feed` ends. Raises FrameError: the frame is invalid here.
        """

    def pass_on(self, piece: memoryview) -> None: ...
    def passed(self) -> None:
        """End a frame whose route is PASS or LOOK. Its last bytes may be forwarded a little later."""

    def collected(self, frame: bytearray) -> None: ...
    def dropped(self) -> None: ...


def _never(_piece: memoryview) -> None: ...


class FrameFollower:
    """Follows the frames of a stream. A decision needs at least `head_bytes`, and a frame's size is in `sizes`.

    `look` gets the bytes of frames whose route is LOOK, and raises FrameError if they must not be forwarded.
    """

    def __init__(
        self,
        receiver: FrameReceiver,
        head_bytes: int,
        sizes: range,
        look: Callable[[memoryview], None] = _never,
    ) -> None:
        self._receiver = receiver
        self._look = look
        self._head_bytes = head_bytes
        self._sizes = sizes
        self._route = FrameRoute.WAIT
        self._frame = bytearray()
        self._left = 0
        self._enough_bytes = 0
        """Bytes needed for the next call of `begin` after MORE; they double, so that small pieces are not all read again."""
        self.waits = False

    @property
    def is_between_frames(self) -> bool:
        return not self._left

    @property
    def collected_bytes(self) -> int:
        return len(self._frame)

    def forget(self) -> None:
        """Discard the bytes of an incomplete frame."""
        self._frame = bytearray()

    def feed(self, data: memoryview) -> int:
        """Handle frames until a frame must wait or needs more bytes; return the number of consumed bytes, or raise FrameError."""
        self.waits = False
        # data[span:at] is still to be forwarded: many small frames leave in one piece.
        span = at = 0
        while True:
            if not self._left:
                # A collected or discarded frame interrupts the span.
                self._route = self._open(data, at)
                if self._route not in _PASSED_ON:
                    self._pass_on(data[span:at])
                    span = at
                if not self._left:
                    return at
            at = self._follow(data, at)
            if self._route not in _PASSED_ON:
                span = at
            if self._left:
                self._pass_on(data[span:at])
                return at
            self._end()

    def _open(self, data: memoryview, at: int) -> FrameRoute:
        present = len(data) - at
        if present < SIZE.size:
            return FrameRoute.MORE
        (size,) = SIZE.unpack_from(data, at)
        # A size out of range may be another protocol, such as HTTP: the bytes behind it have no meaning, and may never come.
        if size not in self._sizes:
            raise FrameError(f"a frame of {size} bytes, and the allowed sizes are {self._sizes}")
        whole = SIZE.size + size
        if present < max(self._head_bytes, min(self._enough_bytes, whole)):
            return FrameRoute.MORE
        route = self._receiver.begin(data, at)
        # All bytes are here, so waiting for more would never end.
        if route is FrameRoute.MORE and present >= whole:
            raise FrameError("a frame that ends before its required fields")
        self._enough_bytes = 2 * present if route is FrameRoute.MORE else 0
        if route not in _NOT_NOW:
            self._left = whole
        self.waits = route is FrameRoute.WAIT
        return route

    def _follow(self, data: memoryview, at: int) -> int:
        step = min(self._left, len(data) - at)
        self._left -= step
        if self._route is FrameRoute.COLLECT:
            self._frame += data[at : at + step]
        elif self._route is FrameRoute.LOOK:
            self._look(data[at : at + step])
        return at + step

    def _pass_on(self, piece: memoryview) -> None:
        if piece:
            self._receiver.pass_on(piece)

    def _end(self) -> None:
        if self._route in _PASSED_ON:
            self._receiver.passed()
        elif self._route is FrameRoute.COLLECT:
            frame, self._frame = self._frame, bytearray()
            self._receiver.collected(frame)
        else:
            self._receiver.dropped()
