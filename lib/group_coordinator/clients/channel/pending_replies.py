"""Requests without an answer yet: a future and a deadline for each."""

from __future__ import annotations

from concurrent.futures import Future
from threading import Lock
from typing import NamedTuple

from group_coordinator.clients.channel.request import Body, Request
from group_coordinator.clients.channel_errors import ChannelError, RequestTimedOutError


class _Pending(NamedTuple):
    request: Request
    timeout_s: float
    deadline_s: float
    reply: Future[Body]


class PendingReplies:
    """Futures by correlation id; any thread may add, complete or expire them.

    An answer completes its future once, and the future is forgotten. A repeated answer (responses come at least
    once) is dropped.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._pending: dict[str, _Pending] = {}
        self._broken: ChannelError | None = None

    def add(
        self, correlation_id: str, request: Request, timeout_s: float, now_s: float
    ) -> Future[Body]:
        """A future for the answer to a request that is about to be sent."""
        pending = _Pending(request, timeout_s, now_s + timeout_s, Future())
        with self._lock:
            if self._broken is not None:
                raise self._broken
            self._pending[correlation_id] = pending
        return pending.reply

    def complete(self, correlation_id: str, body: Body) -> None:
        """The answer is here; an answer without a pending request is dropped."""
        with self._lock:
            pending = self._pending.pop(correlation_id, None)
        if pending is not None and pending.reply.set_running_or_notify_cancel():
            pending.reply.set_result(body)

    def fail(self, correlation_id: str, error: ChannelError) -> None:
        """The request could not be sent."""
        with self._lock:
            pending = self._pending.pop(correlation_id, None)
        _fail(pending, error)

    def expire(self, now_s: float) -> None:
        """Fail the requests whose deadline is over."""
        with self._lock:
            late = [(key, one) for key, one in self._pending.items() if one.deadline_s <= now_s]
            for correlation_id, _ in late:
                del self._pending[correlation_id]
        for correlation_id, pending in late:
            _fail(pending, _timed_out(correlation_id, pending))

    def fail_all(self, error: ChannelError) -> None:
        """Fail all requests, those to come too: there will be no answers."""
        with self._lock:
            self._broken = error
            waiting = list(self._pending.values())
            self._pending.clear()
        for pending in waiting:
            _fail(pending, error)


def _fail(pending: _Pending | None, error: ChannelError) -> None:
    if pending is not None and pending.reply.set_running_or_notify_cancel():
        pending.reply.set_exception(error)


def _timed_out(correlation_id: str, pending: _Pending) -> RequestTimedOutError:
    return RequestTimedOutError(
        f"no answer to {pending.request} (correlation id {correlation_id}) in {pending.timeout_s:g} s; "
        "is the job running, and not older than this client? `group-coordinator run` starts it"
    )
