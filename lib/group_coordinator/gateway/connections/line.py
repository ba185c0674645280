"""One TCP connection of the gateway: bytes that come go through a follower, as far as they can be taken now."""

from __future__ import annotations

import asyncio
import socket
import sys
from typing import NamedTuple, Protocol, cast

from group_coordinator.gateway.connections import tls_buffers
from group_coordinator.gateway.connections.frames import FrameError, FrameFollower
from group_coordinator.gateway.connections.read_queue import ReadQueue

WRITE_BUFFER_BYTES = 1 << 20
"""So much may wait for a reader that is slow; then nothing more is read for it."""
_RECEIVE_BYTES = 256 * 1024
_TRANSPORTS_KEEP_VIEWS = sys.version_info >= (3, 12)
"""Before, they copied what the socket did not take at once."""


class _Sizes(NamedTuple):
    """bytes. What is received at once, what may be unsent before the other side is held back, and the buffer of TLS."""

    received: int
    unsent: int
    encrypted: int


_FIRST = _Sizes(8 * 1024, 1, tls_buffers.FIRST_BYTES)
"""For a client that nobody knows: it keeps no one waiting, and can leave no more than this unread. With 0 asyncio's TLS never writes."""
_WIDE = _Sizes(_RECEIVE_BYTES, WRITE_BUFFER_BYTES, 256 * 1024)


class _Received:
    """The buffer that all lines receive into: what it holds is taken, or copied, before the next line receives."""

    def __init__(self) -> None:
        self.view = memoryview(bytearray(_RECEIVE_BYTES))

    def give_away(self) -> None:
        """A transport still has to send from it."""
        self.view = memoryview(bytearray(_RECEIVE_BYTES))


_received = _Received()


class LineOwner(Protocol):
    """Has two lines: to a client and to a broker."""

    def line_made(self, line: Line) -> None:
        """The line is open."""

    def line_moved(self, line: Line) -> None:
        """Frames were taken from it."""

    def line_full(self, line: Line) -> None:
        """Its reader is slow: nothing more must be read for it."""

    def line_has_room(self, line: Line) -> None:
        """The reader has taken what it was sent."""

    def line_refused(self, line: Line, error: FrameError) -> None:
        """What came is nothing that may come here."""

    def line_failed(self, line: Line, defect: Exception) -> None:
        """What came met a defect of ours."""

    def line_lost(self, line: Line) -> None:
        """The other side is gone."""


class Line(asyncio.BufferedProtocol):
    """One side of a client's connection."""

    def __init__(self, owner: LineOwner, follower: FrameFollower, unknown: ReadQueue) -> None:
        self._owner = owner
        self._unknown = unknown
        self._follower = follower
        self._rest = b""
        self._is_held = False
        self._is_queued = False
        self._is_reading = True
        self._transport: asyncio.Transport | None = None
        self._is_encrypted = False
        self._sizes = _FIRST
        self.is_full = False
        self.first_bytes = b""
        self.used_at_s = 0.0
        self._now_s = asyncio.get_running_loop().time

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The other side is there."""
        self._transport = cast("asyncio.Transport", transport)
        # TLS may encrypt later what it was given now.
        self._is_encrypted = transport.get_extra_info("sslcontext") is not None
        self._resize(self._sizes)
        peer: socket.socket = transport.get_extra_info("socket")
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self.used_at_s = self._now_s()
        self._owner.line_made(self)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - asyncio's signature
        """Behind the few bytes that were no head of a frame yet."""
        kept = len(self._rest)
        _received.view[:kept] = self._rest
        return _received.view[kept : kept + self._sizes.received]

    def buffer_updated(self, nbytes: int) -> None:
        """So many bytes came."""
        self.used_at_s = self._now_s()
        data = _received.view[: len(self._rest) + nbytes]
        if not self.first_bytes:
            self.first_bytes = bytes(data[:8])
        self._take(data)

    def pause_writing(self) -> None:
        """The other side is slow."""
        self.is_full = True
        self._owner.line_full(self)

    def resume_writing(self) -> None:
        """It has caught up."""
        self.is_full = False
        self._owner.line_has_room(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """It is gone."""
        self._transport = None
        self._owner.line_lost(self)

    # What the owner calls.

    @property
    def is_open(self) -> bool:
        """Whether it can be written to."""
        return self._transport is not None and not self._transport.is_closing()

    @property
    def waits(self) -> bool:
        """Whether the frame that comes next must not be taken yet; `go_on` tries again."""
        return self._follower.waits

    @property
    def is_between_frames(self) -> bool:
        """Whether what comes next is a new frame."""
        return self._follower.is_between_frames

    @property
    def collected_bytes(self) -> int:
        """What came of a frame that is read when it is whole."""
        return self._follower.collected_bytes

    @property
    def unread_bytes(self) -> int:
        """The same, and what must not be taken yet."""
        return self.collected_bytes + len(self._rest)

    @property
    def unsent_bytes(self) -> int:
        """What the other side has still to read."""
        return 0 if self._transport is None else self._transport.get_write_buffer_size()

    def widen(self) -> None:
        """The client is known: receive and keep as much as makes it fast."""
        self._resize(_WIDE)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send it, or keep it until the reader takes it."""
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        self.used_at_s = self._now_s()
        if isinstance(data, bytes) or not (_TRANSPORTS_KEEP_VIEWS or self._is_encrypted):
            transport.write(data)
        elif self._is_encrypted or transport.get_write_buffer_size():
            transport.write(bytes(data))
        else:
            transport.write(data)
            if transport.get_write_buffer_size():
                _received.give_away()

    def hold(self) -> None:
        """Read no more for now."""
        self._is_held = True
        self._read_or_not()

    def go_on(self) -> None:
        """Take what had to wait, and read again."""
        self._is_held = False
        if self._follower.waits and self.is_open:
            self._take(memoryview(self._rest))
        else:
            self._read_or_not()

    def close(self) -> None:
        """Send what was written, then hang up."""
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Hang up at once."""
        if self._transport is not None:
            self._transport.abort()

    def forget(self) -> None:
        """What came of a frame that will never be whole."""
        self._rest = b""
        self._follower.forget()

    def _resize(self, sizes: _Sizes) -> None:
        self._sizes = sizes
        if self._transport is None:
            return
        self._transport.set_write_buffer_limits(high=sizes.unsent)
        if self._is_encrypted:
            tls_buffers.resize(self._transport, sizes.encrypted)

    def _take(self, data: memoryview) -> None:
        try:
            taken = self._follower.feed(data)
        except FrameError as error:
            self._owner.line_refused(self, error)
            return
        except Exception as defect:  # noqa: BLE001 - it ends one client's connection, and no other
            self._owner.line_failed(self, defect)
            return
        self._rest = bytes(data[taken:])
        self._owner.line_moved(self)
        if self._sizes is _FIRST and not self._is_queued:
            self._is_queued = True
            self._unknown.wait(self._had_its_turn)
        self._read_or_not()

    def _had_its_turn(self) -> None:
        self._is_queued = False
        self._read_or_not()

    def _read_or_not(self) -> None:
        reads = not (self._is_held or self._is_queued or self._follower.waits)
        if self._transport is None or reads is self._is_reading or self._transport.is_closing():
            return
        self._is_reading = reads
        if reads:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()
