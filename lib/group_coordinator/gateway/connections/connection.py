"""A client's connection and, once a request must be sent on, its own to a broker."""

from __future__ import annotations

import asyncio
from asyncio import Task, TimerHandle
from collections.abc import Callable
from typing import Protocol

from group_coordinator.codecs import wire
from group_coordinator.codecs.wire import WireError
from group_coordinator.gateway.cluster.broker_link import CLIENT_ID
from group_coordinator.gateway.connections.frames import FrameError
from group_coordinator.gateway.connections.line import Line
from group_coordinator.gateway.connections.pipeline import (
    MOST_OPEN_REQUESTS,
    AnswerReader,
    Exchange,
)
from group_coordinator.gateway.connections.read_queue import ReadQueue
from group_coordinator.gateway.connections.requests import Desk, RequestReader
from group_coordinator.gateway.connections.shares import Share, Shares
from group_coordinator.gateway.login.caller import Caller, client_host
from group_coordinator.gateway.login.login import Login
from group_coordinator.gateway.rights.rights import Rights
from group_coordinator.gateway.served import PARKED_APIS

_KEEP_AFTER_S = 240.0
"""Brokers hang up after connections.max.idle.ms, 10 minutes by default."""
_ANY_QUESTION = wire.request("ApiVersions", 0, 0, CLIENT_ID, {})


class Surroundings(Protocol):
    """What a connection needs of the gateway."""

    login_timeout_s: float
    shares: Shares
    unknown: ReadQueue

    @property
    def desk(self) -> Desk:
        """Decides about requests."""

    def login(self, failed: Callable[[], None]) -> Login:
        """Of a client that has just come; `failed` is called when the broker refuses it."""

    def has_authorizer(self) -> bool:
        """Whether brokers let some do what they do not let others do."""

    async def connect(self, node_id: int | None, upstream: Line, host: str) -> None:
        """Open the line of a client from a host to the broker behind a node's port, or to any behind the bootstrap port.

        Raises:
            OSError: it cannot be reached.
        """

    def came(self, connection: Connection) -> None:
        """A client is there."""

    def went(self, connection: Connection) -> None:
        """It is gone."""

    def came_too_late(self, connection: Connection) -> None:
        """The client had `login_timeout_s`, and has not said who it is."""

    def held(self, connection: Connection, held: int) -> None:
        """It holds so many bytes now of requests that are not whole, or not sent on."""

    def login_failed(self, host: str) -> None:
        """A broker has refused a login from there."""

    def login_wait_s(self, host: str) -> float:
        """How long the next login from there must wait."""

    def refused(self, connection: Connection, error: Exception) -> None:
        """The client sent what may not come."""

    def failed(self, connection: Connection, error: BaseException) -> None:
        """The client's broker, or this gateway, does what it should not."""


class Connection:
    """Lives as long as the client's line; the broker's may end sooner and be opened again."""

    def __init__(self, gateway: Surroundings, node_id: int | None, host: str) -> None:
        self._gateway = gateway
        self.node_id = node_id
        self.host = host
        self._deadline_s = asyncio.get_running_loop().time() + gateway.login_timeout_s
        self._too_late: TimerHandle | None = None
        self.is_new = True
        self._held = 0
        self._has_waited = False
        self.login = gateway.login(self._login_failed)
        self.share = Share(gateway.shares, lambda: self.caller(None).payer, self._go_on)
        self.exchange = Exchange(self._connect, self._fail, self.share, self._note_held)
        if not self.login.is_accepted:
            self.exchange.most_open = 1  # as brokers, which take a login step by step
        self.rights = Rights(self.exchange.ask_aside, gateway.has_authorizer)
        self._reader = RequestReader(self.exchange, gateway.desk, self)
        self.client = Line(self, self._reader.follower(), gateway.unknown)
        self.exchange.client = self.client
        self._connecting: Task[None] | None = None

    def caller(self, client_id: str | None) -> Caller:
        """Who asks."""
        return Caller(client_id or "", client_host(self.host), self.login.principal, self.node_id)

    def close(self) -> None:
        """Send what was written, then hang up."""
        self.client.close()

    def abort(self) -> None:
        """Hang up at once."""
        self.client.abort()

    def keep_broker(self, now_s: float) -> None:
        """A broker hangs up on who only speaks of groups: where that would end a login, it is asked something."""
        upstream = self.exchange.upstream
        if not self.login.has_begun or upstream is None or self.exchange.owed:
            return
        if self.login.has_ended:
            return  # the broker would hang up; a client that is back logs in again first
        if not self.client.is_between_frames:
            return  # the broker may have the beginning of a request, and would take the question for its rest
        if now_s - upstream.used_at_s > _KEEP_AFTER_S:
            self.exchange.owed.append(None)
            upstream.write(_ANY_QUESTION)

    def hold_requests(self) -> None:
        """Take no further one."""
        self.exchange.is_held = True

    def take_requests(self) -> None:
        """Go on."""
        self.exchange.release()

    def is_login_delayed(self) -> bool:
        """Whether its first message must wait, as logins from its address have failed; it goes on by itself."""
        wait_s = 0.0 if self._has_waited else self._gateway.login_wait_s(self.host)
        self._has_waited = True
        if wait_s:
            self.hold_requests()
            asyncio.get_running_loop().call_later(wait_s, self.take_requests)
        return wait_s > 0

    def drain(self) -> None:
        """Take no more requests; the one that is on its way may end."""
        self.exchange.is_draining = True

    @property
    def waits(self) -> bool:
        """Whether the client waits for an answer, as far as one can still reach it."""
        return bool(self.exchange.slots) and self.client.is_open

    @property
    def is_drained(self) -> bool:
        """Whether all answers that come soon have left; a member whose group is about to meet joins anew elsewhere."""
        waiting = any(slot.api.name not in PARKED_APIS for slot in self.exchange.slots)
        return self.client.is_between_frames and not waiting

    # What lines call.

    def line_made(self, line: Line) -> None:
        """A client came, or a broker answered."""
        if line is self.client:
            self._gateway.came(self)
            loop = asyncio.get_running_loop()
            self._too_late = loop.call_at(self._deadline_s, self._gateway.came_too_late, self)
        elif not self.is_new:
            line.widen()

    def line_moved(self, line: Line) -> None:  # noqa: ARG002 - either side's frames may be what the other waits for
        """What is ready leaves."""
        if self.is_new and self.login.is_accepted and self._reader.has_read:
            self._become_known()
        self.exchange.flush()
        if self.is_new or self._held or self._reader.is_collecting:
            self._note_held()

    def line_full(self, line: Line) -> None:
        """Who writes to it is not read."""
        other = self._other(line)
        if other is not None:
            other.hold()

    def line_has_room(self, line: Line) -> None:
        """Who writes to it is read again."""
        self.exchange.flush()
        self._note_held()
        other = self._other(line)
        if other is not None and not line.is_full:
            other.go_on()

    def line_refused(self, line: Line, error: FrameError) -> None:
        """Neither a client nor a broker that does not keep to the protocol can be understood any further."""
        if line is self.client:
            self._gateway.refused(self, error)
        else:
            self._gateway.failed(self, error)
        line.abort()
        self.client.abort()

    def line_failed(self, line: Line, defect: Exception) -> None:
        """Nobody knows what was done of it."""
        line.abort()
        self._fail(defect)

    def line_lost(self, line: Line) -> None:
        """Without its client nothing is left; without its broker the client, if it waits for an answer or has logged in."""
        if line is self.client:
            self._end()
        elif line is self.exchange.upstream:
            self._lose_broker()

    def _become_known(self) -> None:
        self._gateway.held(self, 0)
        self.is_new, self._held = False, 0
        self._cancel_deadline()
        self.exchange.most_open = MOST_OPEN_REQUESTS
        self.client.widen()
        if self.exchange.upstream is not None:
            self.exchange.upstream.widen()

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
        """Before a login also what waits, and what the broker has not read; after a login also answers that were made here."""
        if not self.is_new:
            return self.client.collected_bytes + self.exchange.waiting_bytes
        upstream = self.exchange.upstream
        return self.client.unread_bytes + (0 if upstream is None else upstream.unsent_bytes)

    def _login_failed(self) -> None:
        self._gateway.login_failed(self.host)

    def _other(self, line: Line) -> Line | None:
        return self.exchange.upstream if line is self.client else self.client

    def _lose_broker(self) -> None:
        is_amid_request = not self.client.is_between_frames
        if self.exchange.owed or is_amid_request or self.login.has_begun:
            self.client.close()
        self.exchange.lose_upstream()
        self.client.go_on()  # it may have been held back for this broker

    def _go_on(self) -> None:
        self.client.go_on()

    def _end(self) -> None:
        self._cancel_deadline()
        self._gateway.held(self, 0)
        self.client.forget()
        self.share.close()
        self.exchange.forget()
        if self._connecting is not None:
            self._connecting.cancel()
        if self.exchange.upstream is not None:
            # What a client said before it left is still the broker's, if it wants no answer.
            self.exchange.upstream.close()
        self._gateway.went(self)

    def _fail(self, error: BaseException) -> None:
        if isinstance(
            error, WireError
        ):  # what the client said cannot be asked of a broker, or be answered
            self._gateway.refused(self, error)
        else:
            self._gateway.failed(self, error)
        self.exchange.forget()
        if self.exchange.upstream is not None:
            self.exchange.upstream.close()  # nothing that comes has a place any more
        self.client.abort()

    def _connect(self) -> None:
        if self._connecting is None:
            self._connecting = asyncio.ensure_future(self._open_upstream())

    async def _open_upstream(self) -> None:
        upstream = Line(self, AnswerReader(self.exchange).follower(), self._gateway.unknown)
        try:
            await self._gateway.connect(self.node_id, upstream, self.host)
        except OSError:
            self.client.close()
            return
        finally:
            self._connecting = None
        if upstream.is_open:
            self.exchange.upstream = upstream
            self.client.go_on()
        else:
            self.client.close()
