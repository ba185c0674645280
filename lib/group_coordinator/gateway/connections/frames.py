"""Frames in a stream of bytes: each is preceded by its size and followed to its end; only what is read is collected."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from struct import Struct
from typing import Protocol

SIZE = Struct(">i")


class FrameError(ValueError):
    """What comes is no frame that may come here; the message says why."""


class Course(Enum):
    """What becomes of a frame."""

    PASS = auto()
    """Its bytes are passed on as they come."""
    LOOK = auto()
    """As PASS, and each piece is looked at before."""
    COLLECT = auto()
    """It is handed over when it is whole."""
    DROP = auto()
    """Its bytes go nowhere."""
    WAIT = auto()
    """It must not be taken now, and so nothing behind it can be."""
    MORE = auto()
    """The bytes that are here do not say yet."""


_NOT_NOW = frozenset({Course.WAIT, Course.MORE})
_PASSED_ON = (Course.PASS, Course.LOOK)


class FrameTaker(Protocol):
    """Decides about frames, and gets them."""

    def begin(self, data: memoryview, at: int) -> Course:
        """A frame begins here, its size first; asked again after WAIT, and after MORE with twice as many bytes, or all.

        The bytes of `data` do not change before `feed` ends.

        Raises:
            FrameError: such a frame must not come here.
        """

    def pass_on(self, piece: memoryview) -> None:
        """Bytes of one or several frames whose course is PASS or LOOK."""

    def passed(self) -> None:
        """A frame whose course is PASS or LOOK has ended; its last bytes may be passed on a little later."""

    def collected(self, frame: bytearray) -> None:
        """A whole frame, its size first."""

    def dropped(self) -> None:
        """A frame whose course is DROP has ended."""


def _never(_piece: memoryview) -> None:
    """For takers that look at nothing."""


class FrameFollower:
    """Follows one stream; a decision needs `head_bytes` at least, and a frame's size is one of `sizes`.

    `look` gets the bytes of frames whose course is LOOK, and raises FrameError if they must not be passed on.
    """

    def __init__(
        self,
        taker: FrameTaker,
        head_bytes: int,
        sizes: range,
        look: Callable[[memoryview], None] = _never,
    ) -> None:
        self._taker = taker
        self._look = look
        self._head_bytes = head_bytes
        self._sizes = sizes
        self._course = Course.WAIT
        self._frame = bytearray()
        self._left = 0
        self._enough_bytes = 0
        """Of the next frame: with fewer the taker has said MORE. Twice as many each time: a frame in
        small pieces is not read from its beginning with every piece."""
        self.waits = False
        """Whether the frame that comes next must not be taken yet."""

    @property
    def is_between_frames(self) -> bool:
        """Whether no frame is in the middle of its way."""
        return not self._left

    @property
    def collected_bytes(self) -> int:
        """Of a frame that is not whole."""
        return len(self._frame)

    def forget(self) -> None:
        """The rest of it will not come."""
        self._frame = bytearray()

    def feed(self, data: memoryview) -> int:
        """Take frames until one must wait or there are too few bytes of it; returns how many bytes were taken.

        Raises:
            FrameError: what comes next is no frame that may come here.
        """
        self.waits = False
        # data[span:at] is still to be passed on: many small frames leave in one piece.
        span = at = 0
        while True:
            if not self._left:
                self._course = self._open(data, at)
                if self._course not in _PASSED_ON:
                    self._pass_on(data[span:at])
                    span = at
                if not self._left:
                    return at
            at = self._follow(data, at)
            if self._course not in _PASSED_ON:
                span = at
            if self._left:
                self._pass_on(data[span:at])
                return at
            self._end()

    def _open(self, data: memoryview, at: int) -> Course:
        present = len(data) - at
        if present < self._head_bytes:
            return Course.MORE
        (size,) = SIZE.unpack_from(data, at)
        if size not in self._sizes:
            raise FrameError(f"a frame of {size} bytes, allowed are {self._sizes}")
        whole = SIZE.size + size
        if self._enough_bytes and present < min(self._enough_bytes, whole):
            return Course.MORE
        course = self._taker.begin(data, at)
        if course is Course.MORE and present >= whole:
            raise FrameError("a frame that ends before what it must say")
        self._enough_bytes = 2 * present if course is Course.MORE else 0
        if course not in _NOT_NOW:
            self._left = whole
        self.waits = course is Course.WAIT
        return course

    def _follow(self, data: memoryview, at: int) -> int:
        step = min(self._left, len(data) - at)
        self._left -= step
        if self._course is Course.COLLECT:
            self._frame += data[at : at + step]
        elif self._course is Course.LOOK:
            self._look(data[at : at + step])
        return at + step

    def _pass_on(self, piece: memoryview) -> None:
        if piece:
            self._taker.pass_on(piece)

    def _end(self) -> None:
        if self._course in _PASSED_ON:
            self._taker.passed()
        elif self._course is Course.COLLECT:
            frame, self._frame = self._frame, bytearray()
            self._taker.collected(frame)
        else:
            self._taker.dropped()
