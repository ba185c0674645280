"""TCP connection of the gateway, to a client or a broker. A follower consumes the received bytes as far as it can.

The process has limits for them: TLS buffers of asyncio, open files, and the certificate of the ports, which may be renewed.
"""

from __future__ import annotations

import asyncio
import logging
import resource
import socket
import sys
from asyncio.sslproto import SSLProtocol
from collections.abc import Callable
from math import inf
from pathlib import Path
from ssl import SSLContext
from time import process_time
from typing import Any, NamedTuple, Protocol, cast

from group_coordinator.gateway import GatewayStartError
from group_coordinator.gateway.cluster.broker_access import KEY_STORE, listener_context
from group_coordinator.gateway.connections.admission import ReadQueue
from group_coordinator.gateway.frames import FrameError, FrameFollower

FIRST_BYTES = 4 * 1024
"""Bytes of a handshake that arrive at once. OpenSSL itself keeps an incomplete record, up to 16 KiB."""


def begin_small() -> None:
    SSLProtocol.max_size = FIRST_BYTES


def resize(transport: asyncio.BaseTransport, size: int) -> None:
    """Set the buffer size of an encrypted connection. A larger buffer is allocated when it is needed."""
    encrypted: Any = transport
    encrypted.set_read_buffer_limits(high=size)
    protocol = getattr(transport, "_ssl_protocol", None)
    if protocol is not None:
        protocol.max_size = size


_MANY = 1 << 20
_KEPT = 256
"""Files for brokers, tables, logs and the health port."""

_log = logging.getLogger(__name__)


def connections_within_limit(wanted: int) -> int:
    """Return the value of gateway.max.connections, or less where the limit of open files is lower, so that the health port still answers."""
    most = raise_open_files()
    if most < wanted:
        _log.warning(
            "gateway.max.connections = %d: the limit of open files allows %d: raise that limit to %d, or lower "
            "the setting",
            wanted,
            most,
            2 * wanted + _KEPT,
        )
    return min(most, wanted)


def raise_open_files() -> int:
    """Raise the limit of open files, to a million at most; return how many connections fit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MANY if hard == resource.RLIM_INFINITY else min(hard, _MANY)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    # A client's connection may need a second socket, to its broker.
    return max((most - _KEPT) // 2, 1)


_LOOK_INTERVAL_S = 10.0


class CertificateRenewal:
    """Reloads the certificate of the ports when its file changes. Open connections keep their certificate."""

    def __init__(
        self, context: SSLContext, key_store: str, client_authorities: str, setting: str = KEY_STORE
    ) -> None:
        self._context = context
        self._key_store = key_store
        self._client_authorities = client_authorities
        self._setting = setting
        self._changed_at_ns = _changed_at_ns(key_store)

    async def keep(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_INTERVAL_S)
            self.look()

    def look(self) -> None:
        """Load the file if it has changed. Errors are logged."""
        changed_at_ns = _changed_at_ns(self._key_store)
        if changed_at_ns == self._changed_at_ns:
            return
        self._changed_at_ns = changed_at_ns
        try:
            newest = listener_context(self._key_store, self._client_authorities, self._setting)
        except GatewayStartError as error:
            _log.error("The last certificate stays in use: %s", error)
            return
        # A context keeps a certificate of each kind of key: loaded into it, one with another kind would not replace the last.
        self._context.sni_callback = lambda client, *_: setattr(client, "context", newest)
        _log.info("%s = %s: the new certificate is in use", self._setting, self._key_store)


def _changed_at_ns(file: str) -> int:
    try:
        return Path(file).stat().st_mtime_ns
    except OSError:
        # The file may be missing while it is replaced.
        return 0


WRITE_BUFFER_BYTES = 1 << 20
"""Bytes that may wait for a slow reader. Above this limit nothing more is read for it."""
_RECEIVE_BYTES = 256 * 1024
_TRANSPORTS_KEEP_VIEWS = sys.version_info >= (3, 12)
"""Earlier versions of Python copied the bytes that the socket did not accept at once."""


class _Sizes(NamedTuple):
    """bytes: of a read, of unsent data before the other side is held back, and of the TLS buffer."""

    received: int
    unsent: int
    encrypted: int


_FIRST = _Sizes(8 * 1024, 1, FIRST_BYTES)
"""Sizes before the login, small as anyone can connect. With 0 unsent bytes asyncio's TLS never writes."""
_WIDE = _Sizes(_RECEIVE_BYTES, WRITE_BUFFER_BYTES, 256 * 1024)


class _Received:
    """Receive buffer of all connections. Its bytes are consumed or copied before the next connection receives."""

    def __init__(self) -> None:
        self.view = memoryview(bytearray(_RECEIVE_BYTES))

    def give_away(self) -> None:
        self.view = memoryview(bytearray(_RECEIVE_BYTES))


_received = _Received()


_STOOD_STILL_S = 5.0
"""Pause of the process, below the timeouts of clients, after which they connect again."""
_TICK_S, _MOMENT_S = 0.5, 1.0


class Pulse:
    """Notices that the process stood still: clients may have repeated elsewhere what is unread here.

    An old commit would take an offset back. Reads come before timers in a pass of the loop, so each read looks too.
    """

    def __init__(self, woke: Callable[[float], None]) -> None:
        self._woke = woke
        self._beat_at_s = asyncio.get_running_loop().time()
        self._worked_s, self._woke_at_s = process_time(), -inf

    def begin(self) -> None:
        loop = asyncio.get_running_loop()
        self.stood_still(loop.time())
        self._worked_s = process_time()
        loop.call_later(_TICK_S, self.begin)

    def stood_still(self, now_s: float) -> bool:
        """Return True for a moment after the pause, as the listening sockets hold connections with requests from it."""
        still_s, self._beat_at_s = now_s - self._beat_at_s, now_s
        if still_s > _STOOD_STILL_S:
            # Thousands of TLS handshakes at once keep the loop busy, which is no pause.
            still_s -= process_time() - self._worked_s
        if still_s > _STOOD_STILL_S:
            self._woke_at_s = now_s
            self._woke(still_s)
        return now_s - self._woke_at_s < _MOMENT_S


class TcpConnectionOwner(Protocol):
    """Owner of two connections: to a client and to a broker."""

    def line_made(self, line: TcpConnection) -> None: ...
    def line_moved(self, line: TcpConnection) -> None: ...
    def line_full(self, line: TcpConnection) -> None: ...
    def line_has_room(self, line: TcpConnection) -> None: ...
    def frame_failed(self, line: TcpConnection, error: FrameError) -> None: ...
    def line_failed(self, line: TcpConnection, defect: Exception) -> None: ...
    def line_lost(self, line: TcpConnection) -> None: ...


class TcpConnection(asyncio.BufferedProtocol):
    def __init__(
        self, owner: TcpConnectionOwner, follower: FrameFollower, unknown: ReadQueue, pulse: Pulse
    ) -> None:
        self._pulse = pulse
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

    # Called by asyncio:

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        # TLS may encrypt the bytes later, so they must be copied.
        self._is_encrypted = transport.get_extra_info("sslcontext") is not None
        self._resize(self._sizes)
        peer: socket.socket = transport.get_extra_info("socket")
        # Keep-alive finds clients whose host is gone, as it is in brokers.
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self.used_at_s = self._now_s()
        self._owner.line_made(self)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - asyncio's signature
        # The incomplete head of a frame stays at the beginning.
        kept = len(self._rest)
        _received.view[:kept] = self._rest
        return _received.view[kept : kept + self._sizes.received]

    def buffer_updated(self, nbytes: int) -> None:
        self.used_at_s = self._now_s()
        if self._pulse.stood_still(self.used_at_s):
            self.abort()
            return
        data = _received.view[: len(self._rest) + nbytes]
        if not self.first_bytes:
            # The first bytes show the peer's protocol in an error.
            self.first_bytes = bytes(data[:8])
        self._take(data)

    def pause_writing(self) -> None:
        self.is_full = True
        self._owner.line_full(self)

    def resume_writing(self) -> None:
        self.is_full = False
        self._owner.line_has_room(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._transport = None
        self._owner.line_lost(self)

    # Called by the owner:

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    @property
    def waits(self) -> bool:
        return self._follower.waits

    @property
    def is_between_frames(self) -> bool:
        return self._follower.is_between_frames

    @property
    def collected_bytes(self) -> int:
        return self._follower.collected_bytes

    @property
    def unread_bytes(self) -> int:
        return self.collected_bytes + len(self._rest)

    @property
    def unsent_bytes(self) -> int:
        return 0 if self._transport is None else self._transport.get_write_buffer_size()

    def widen(self) -> None:
        self._resize(_WIDE)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        # A view of the shared buffer may be sent only while no other connection receives.
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
        self._is_held = True
        self._read_or_not()

    def go_on(self) -> None:
        self._is_held = False
        if self._follower.waits and self.is_open:
            self._take(memoryview(self._rest))
        else:
            self._read_or_not()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def forget(self) -> None:
        """Discard the bytes of an incomplete frame."""
        self._rest = b""
        self._follower.forget()

    def _resize(self, sizes: _Sizes) -> None:
        self._sizes = sizes
        if self._transport is None:
            return
        self._transport.set_write_buffer_limits(high=sizes.unsent)
        if self._is_encrypted:
            resize(self._transport, sizes.encrypted)

    def _take(self, data: memoryview) -> None:
        try:
            taken = self._follower.feed(data)
        except FrameError as error:
            self._owner.frame_failed(self, error)
            return
        except Exception as defect:  # noqa: BLE001 - it ends one client's connection, and no other
            self._owner.line_failed(self, defect)
            return
        # The rest is copied, as the buffer is shared.
        self._rest = bytes(data[taken:])
        self._owner.line_moved(self)
        # Clients before the login share a queue, so that they cannot starve the others.
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
