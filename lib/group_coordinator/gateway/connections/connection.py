"""A client's connection and, from the first forwarded request on, a connection to a broker for it.

A closed connection is logged with one line for each address and for each defect, however often they repeat.
"""

from __future__ import annotations

import asyncio
import logging
from asyncio import Task, TimerHandle
from collections import OrderedDict
from collections.abc import Callable, Hashable
from traceback import walk_tb
from typing import Protocol

from group_coordinator.codecs import wire
from group_coordinator.codecs.wire import WireError
from group_coordinator.gateway.api_versions import PENDING_APIS
from group_coordinator.gateway.cluster.broker_links import CLIENT_ID
from group_coordinator.gateway.cluster.cluster_view import ClusterView
from group_coordinator.gateway.connections.admission import ReadQueue, Share, Shares
from group_coordinator.gateway.connections.pipeline import (
    MOST_OPEN_REQUESTS,
    Pipeline,
    ResponseMatcher,
)
from group_coordinator.gateway.connections.requests import RequestReader, Router
from group_coordinator.gateway.connections.tcp_connection import Pulse, TcpConnection
from group_coordinator.gateway.frames import FrameError
from group_coordinator.gateway.login import Caller, Login, client_host
from group_coordinator.gateway.rights.rights import ClientRights

_log = logging.getLogger(__name__)
_KEEP_AFTER_S = 240.0
"""Brokers hang up after connections.max.idle.ms, 10 minutes by default."""
_ANY_QUESTION = wire.request("ApiVersions", 0, 0, CLIENT_ID, {})


class ConnectionHost(Protocol):
    login_timeout_s: float
    shares: Shares
    unknown: ReadQueue
    pulse: Pulse
    view: ClusterView

    @property
    def router(self) -> Router: ...

    def login(self, failed: Callable[[], None]) -> Login: ...
    async def connect(self, node_id: int | None, upstream: TcpConnection, host: str) -> None: ...
    def came(self, connection: ClientConnection) -> None: ...
    def went(self, connection: ClientConnection) -> None: ...
    def came_too_late(self, connection: ClientConnection) -> None: ...
    def held(self, connection: ClientConnection, held: int) -> None: ...
    def login_failed(self, host: str) -> None: ...
    def login_wait_s(self, host: str) -> float: ...
    def frame_failed(self, connection: ClientConnection, error: Exception) -> None: ...
    def failed(self, connection: ClientConnection, error: BaseException) -> None: ...


class ClientConnection:
    """Lifetime of a client's connection. The broker's connection may end sooner and be opened again."""

    def __init__(self, gateway: ConnectionHost, node_id: int | None, host: str) -> None:
        self._gateway = gateway
        self.node_id = node_id
        self.host = host
        self._deadline_s = asyncio.get_running_loop().time() + gateway.login_timeout_s
        self._too_late: TimerHandle | None = None
        self.is_new = True
        self._held = 0
        self._has_waited = False
        self.login = gateway.login(lambda: gateway.login_failed(host))
        self.share = Share(gateway.shares, lambda: self.caller(None).payer, self._go_on)
        self.pipeline = Pipeline(self._connect, self._fail, self.share, self._note_held)
        if not self.login.is_accepted:
            # Brokers handle the steps of a login in order too.
            self.pipeline.most_open = 1
        self.rights = ClientRights(self.pipeline.ask_aside, lambda: gateway.view.has_authorizer)
        # The reader needs the pipeline, and the pipeline the line to the client: both are linked here.
        self._reader = RequestReader(self.pipeline, gateway.router, self)
        self.client = TcpConnection(self, self._reader.follower(), gateway.unknown, gateway.pulse)
        self.pipeline.client = self.client
        self._connecting: Task[None] | None = None

    def caller(self, client_id: str | None) -> Caller:
        return Caller(client_id or "", client_host(self.host), self.login.principal, self.node_id)

    def close(self) -> None:
        self.client.close()

    def abort(self) -> None:
        self.client.abort()

    def keep_broker(self, now_s: float) -> None:
        # A broker closes idle connections, and sees no group requests. A request of our own keeps the login alive.
        upstream = self.pipeline.upstream
        if not self.login.has_begun or upstream is None or self.pipeline.owed:
            return
        if self.login.has_ended:
            return  # the broker would hang up on the expired session
        if not self.client.is_between_frames:
            return  # the broker would read our request as the rest of the client's
        if now_s - upstream.used_at_s > _KEEP_AFTER_S:
            self.pipeline.owed.append(None)
            upstream.write(_ANY_QUESTION)

    def hold_requests(self) -> None:
        self.pipeline.is_held = True

    def take_requests(self) -> None:
        self.pipeline.release()

    def is_login_delayed(self) -> bool:
        """Return True if failed logins from the host delay this login. A timer starts it later."""
        wait_s = 0.0 if self._has_waited else self._gateway.login_wait_s(self.host)
        self._has_waited = True
        if wait_s:
            _log.debug("throttle: host=%s login_delay_s=%.3f", self.host, wait_s)
            self.hold_requests()
            asyncio.get_running_loop().call_later(wait_s, self.take_requests)
        return wait_s > 0

    def drain(self) -> None:
        """Read no more requests. Requests in the pipeline continue."""
        self.pipeline.is_draining = True

    @property
    def waits(self) -> bool:
        return bool(self.pipeline.queue) and self.client.is_open

    @property
    def is_drained(self) -> bool:
        """All responses have left, except those that wait for other members."""
        # A member of a pending JoinGroup or SyncGroup joins again at another gateway.
        waiting = any(pending.api.name not in PENDING_APIS for pending in self.pipeline.queue)
        return self.client.is_between_frames and not waiting

    # Called by lines:

    def line_made(self, line: TcpConnection) -> None:
        if line is self.client:
            self._gateway.came(self)
            loop = asyncio.get_running_loop()
            self._too_late = loop.call_at(self._deadline_s, self._gateway.came_too_late, self)
        elif not self.is_new:
            line.widen()

    def line_moved(self, line: TcpConnection) -> None:  # noqa: ARG002 - either side's frames may be what the other waits for
        # The first complete request after the login ends the time limits of an unknown client.
        if self.is_new and self.login.is_accepted and self._reader.has_read:
            self._become_known()
        self.pipeline.flush()
        # Known clients without pending bytes are the usual case, and need no accounting.
        if self.is_new or self._held or self._reader.is_collecting:
            self._note_held()

    def line_full(self, line: TcpConnection) -> None:
        # Back-pressure: a slow reader stops the reading at the other side.
        other = self._other(line)
        if other is not None:
            other.hold()

    def line_has_room(self, line: TcpConnection) -> None:
        self.pipeline.flush()
        self._note_held()
        other = self._other(line)
        if other is not None and not line.is_full:
            other.go_on()

    def frame_failed(self, line: TcpConnection, error: FrameError) -> None:
        if line is self.client:
            self._gateway.frame_failed(self, error)
        else:
            self._gateway.failed(self, error)
        # After an invalid frame the next frame's position is unknown.
        line.abort()
        self.client.abort()

    def line_failed(self, line: TcpConnection, defect: Exception) -> None:
        # It is unknown how much of the bytes was handled.
        line.abort()
        self._fail(defect)

    def line_lost(self, line: TcpConnection) -> None:
        if line is self.client:
            self._end()
        elif line is self.pipeline.upstream:
            self._lose_broker()

    def _become_known(self) -> None:
        self._gateway.held(self, 0)
        self.is_new, self._held = False, 0
        self._cancel_deadline()
        # After the login the usual limits and large buffers apply.
        self.pipeline.most_open = MOST_OPEN_REQUESTS
        self.client.widen()
        if self.pipeline.upstream is not None:
            self.pipeline.upstream.widen()

    def _cancel_deadline(self) -> None:
        if self._too_late is not None:
            self._too_late.cancel()
            self._too_late = None

    def _note_held(self) -> None:
        held = self._held_bytes()
        if held != self._held:
            self._held = held
            self._gateway.held(self, held)

    def _held_bytes(self) -> int:
        """Before the login the bytes unread and unsent to the broker, afterwards incomplete frames and pending local responses."""
        if not self.is_new:
            return self.client.collected_bytes + self.pipeline.waiting_bytes
        upstream = self.pipeline.upstream
        return self.client.unread_bytes + (0 if upstream is None else upstream.unsent_bytes)

    def _other(self, line: TcpConnection) -> TcpConnection | None:
        return self.pipeline.upstream if line is self.client else self.client

    def _lose_broker(self) -> None:
        is_amid_request = not self.client.is_between_frames
        if self.pipeline.owed or is_amid_request or self.login.has_begun:
            # A lost login, response or partial request cannot be repeated on another connection.
            self.client.close()
        # Otherwise the next request connects to the broker again.
        self.pipeline.lose_upstream()
        self.client.go_on()  # it may have been held back for this broker

    def _go_on(self) -> None:
        self.client.go_on()

    def _end(self) -> None:
        self._cancel_deadline()
        self._gateway.held(self, 0)
        self.client.forget()
        self.share.close()
        self.pipeline.forget()
        if self._connecting is not None:
            self._connecting.cancel()
        if self.pipeline.upstream is not None:
            # The broker still gets a client's last requests without responses, such as Produce with acks=0.
            self.pipeline.upstream.close()
        self._gateway.went(self)

    def _fail(self, error: BaseException) -> None:
        if isinstance(error, WireError):  # the client's request cannot be forwarded or answered
            self._gateway.frame_failed(self, error)
        else:
            self._gateway.failed(self, error)
        self.pipeline.forget()
        if self.pipeline.upstream is not None:
            self.pipeline.upstream.close()  # later responses have no pending request
        self.client.abort()

    def _connect(self) -> None:
        if self._connecting is None:
            self._connecting = asyncio.ensure_future(self._open_upstream())

    async def _open_upstream(self) -> None:
        follower = ResponseMatcher(self.pipeline).follower()
        upstream = TcpConnection(self, follower, self._gateway.unknown, self._gateway.pulse)
        try:
            await self._gateway.connect(self.node_id, upstream, self.host)
        except OSError:
            self.client.close()
            return
        finally:
            self._connecting = None
        if upstream.is_open:
            self.pipeline.upstream = upstream
            self.client.go_on()
        else:
            self.client.close()


_REMEMBERED = 1_000
"""Limit of remembered addresses and defects; the oldest is forgotten."""
_TLS_HANDSHAKE = b"\x16\x03"
_HTTP_METHODS = (b"GET ", b"POST", b"HEAD", b"PUT ", b"OPTI", b"CONN", b"DELE", b"PATC")


class LoggedPeers:
    """Remembers the logged addresses and defects."""

    def __init__(self) -> None:
        self._reported: OrderedDict[Hashable, None] = OrderedDict()

    def report(self, host: str, first_bytes: bytes, error: Exception) -> None:
        """Log the first invalid bytes of an address."""
        if self._is_new(host):
            _log.warning("Hung up on %s: %s", host, _guess(first_bytes) or error)

    def report_defect(self, host: str, error: BaseException) -> None:
        """Log where the error was raised, once, as a client may cause it again and again."""
        # The innermost frame identifies the defect, whatever led to it.
        places = [(frame.f_code, line) for frame, line in walk_tb(error.__traceback__)]
        if self._is_new((type(error), *places[-1:])):
            _log.error("Hung up on %s", host, exc_info=error)
        elif self._is_new((host, type(error))):
            _log.error("Hung up on %s: %s, as before", host, type(error).__name__)

    def _is_new(self, what: Hashable) -> bool:
        is_new = what not in self._reported
        self._reported[what] = None
        if len(self._reported) > _REMEMBERED:
            self._reported.popitem(last=False)
        return is_new


def _guess(first_bytes: bytes) -> str | None:
    if first_bytes.startswith(_TLS_HANDSHAKE):
        return "it speaks TLS, and this port is a plain one"
    if first_bytes.startswith(_HTTP_METHODS):
        return "it speaks HTTP, and this port speaks Kafka's protocol"
    return None
