"""Pending requests to the job: their timeouts, the health of the job, and deduplication.

A client repeats a request without a response in its own timeout, or in the gateway's, and the job handles the first event all
the same. A second event would add load to a slow job; and a commit that is repeated behind a later commit would move offsets back.

The job answers a group's events in order. While a response is pending, no client has seen the effect of any later event, so the
repeat may have its effect at any time between its arrival and the response. A commit that the same member waits for, or whose
response it has, came before the repeat: the repeat is then sent as an event behind that commit. The same holds for heartbeats;
between heartbeats and commits the order has no meaning. Clients choose the keys of the cache, so its limit is in bytes.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, ItemsView
from math import inf
from time import monotonic
from typing import Generic, TypeAlias, TypeVar

from group_coordinator.clients.channel import Body
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.api_versions import PENDING_APIS
from group_coordinator.gateway.job.job_channel import (
    ASKER,
    GroupRequest,
    JobClient,
    NoAnswerError,
    PendingRequests,
)

_ENTRY_BYTES = 200
"""Memory of an entry in addition to its key, about."""

Key = TypeVar("Key", bound="str | tuple[str, ...]")
Value = TypeVar("Value")


class RecentEntries(Generic[Key, Value]):
    """Cache of the last entries. Over the limit of bytes the oldest are removed."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._entries: OrderedDict[Key, Value] = OrderedDict()

    def __setitem__(self, key: Key, value: Value) -> None:
        self.pop(key)
        self._entries[key] = value
        self._bytes += _size_of(key)
        while self._bytes > self._most_bytes and len(self._entries) > 1:
            self.pop(next(iter(self._entries)))

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Key) -> Value | None:
        return self._entries.get(key)

    def pop(self, key: Key) -> Value | None:
        if key in self._entries:
            self._bytes -= _size_of(key)
        return self._entries.pop(key, None)

    def items(self) -> ItemsView[Key, Value]:
        return self._entries.items()


def _size_of(key: str | tuple[str, ...]) -> int:
    names = (key,) if isinstance(key, str) else key
    # A character of UTF-8 has one to four bytes; text that is not ASCII counts with four.
    return _ENTRY_BYTES + sum(len(n) if n.isascii() else 4 * len(n) for n in names)


_log = logging.getLogger(__name__)

GRACE_S = 10.0
"""Time that a JoinGroup may take beyond its rebalance timeout."""
_MOST_BYTES = 4 * 1024 * 1024
"""Limit of the members whose rebalance timeouts are kept, about 15,000; the oldest are forgotten."""
_UNKNOWN_TIMEOUT_MS = 300_000
"""Default of max.poll.interval.ms, which nearly all clients send as their rebalance timeout."""
_REBALANCE_TIMEOUT_SINCE = 1
"""First version of JoinGroup with the field."""


class RequestTimeouts:
    """Timeouts of requests. A JoinGroup waits for all members of the group, a SyncGroup for the leader."""

    def __init__(self, answer_timeout_ms: int) -> None:
        self._answer_timeout_s = answer_timeout_ms / 1000
        self._rebalance_timeouts_ms: RecentEntries[tuple[str, str], int] = RecentEntries(
            _MOST_BYTES
        )

    def timeout_s(self, api: str, version: int, body: Body) -> float:
        if api == "JoinGroup":
            return _rebalance_timeout_ms(version, body) / 1000 + GRACE_S
        if api == "SyncGroup":
            member = (body["groupId"], body["memberId"])
            timeout_ms = self._rebalance_timeouts_ms.get(member)
            known_ms = _UNKNOWN_TIMEOUT_MS if timeout_ms is None else timeout_ms
            # A member that joined elsewhere, or was forgotten, has the usual timeout.
            return known_ms / 1000 + GRACE_S
        return self._answer_timeout_s

    def learn(self, request: GroupRequest, response: Body) -> None:
        """Remember the rebalance timeout of a member that has joined, for its SyncGroup."""
        if request.api != "JoinGroup" or response.get("errorCode") != ErrorCode.NONE:
            return
        member = (request.group_id, response["memberId"])
        self._rebalance_timeouts_ms[member] = _rebalance_timeout_ms(request.version, request.body)


def _rebalance_timeout_ms(version: int, body: Body) -> int:
    known = version >= _REBALANCE_TIMEOUT_SINCE
    timeout_ms: int = body["rebalanceTimeoutMs" if known else "sessionTimeoutMs"]
    return max(0, timeout_ms)


_PROBED = "gateway"
"""Group of the probe, which need not exist."""


class JobPulse:
    """Forwards requests to the job, and watches its responses."""

    def __init__(
        self, job: JobClient, answer_timeout_ms: int, clock_s: Callable[[], float] = monotonic
    ) -> None:
        self._job = job
        self._answer_timeout_s = answer_timeout_ms / 1000
        self._clock_s = clock_s
        self._waiting_since_s: float | None = None
        """Time of the first request after the last response."""
        self._probed_s = -inf

    def ask(self, request: GroupRequest) -> asyncio.Future[Body]:
        if self._waiting_since_s is None and request.api not in PENDING_APIS:
            self._waiting_since_s = self._clock_s()
        response = self._job.ask(request)
        response.add_done_callback(self._answered)
        return response

    def why_not_ready(self) -> str | None:
        """Reason of the readiness page; None: the job answered the last requests, or still has time.

        A silent job gets a probe here, as a gateway that is not ready gets no clients.
        """
        since_s, now_s = self._waiting_since_s, self._clock_s()
        if since_s is None or now_s - since_s <= self._answer_timeout_s:
            return None
        if now_s - self._probed_s > self._answer_timeout_s:
            self._probed_s = now_s
            # It changes no group.
            body, timeout_s = {"groups": [_PROBED]}, self._answer_timeout_s
            probe = GroupRequest("DescribeGroups", 5, _PROBED, body, ASKER, timeout_s=timeout_s)
            self._job.ask(probe).add_done_callback(self._answered)
        return f"the job has not responded for {now_s - since_s:.0f} seconds"

    def _answered(self, response: asyncio.Future[Body]) -> None:
        if not response.cancelled() and response.exception() is None:
            self._waiting_since_s = None


_REPEATED = frozenset({"OffsetCommit", "Heartbeat", "ConsumerGroupHeartbeat"})
"""APIs whose repeat has no further effect. OffsetFetch is not among them: it must see commits before the repeat."""
_OWED_S = 60.0
"""Longest wait for the job's response, whatever the clients' timeouts. Later it counts as lost, and a repeat is sent."""
_LATE_S = 2.0
"""Lifetime of a response without a waiting client: clients wait 0.1 to 1 s before they repeat.

Meanwhile clients may have seen later commits, but none to a partition of that member, while it is a member. A client
that is no member may share its partitions with any other, so its responses are not kept.
"""

_Line: TypeAlias = tuple[str, str, str]
"""API, group id and member id: requests whose order matters. A client that is no member has the id ""."""


class _Asked:
    __slots__ = ("answer", "late", "request", "waiting_id")

    def __init__(
        self, request: GroupRequest, waiting_id: str, response: asyncio.Future[Body]
    ) -> None:
        self.request = request
        self.waiting_id = waiting_id
        self.answer = response
        self.late: Body | None = None
        """Response that arrived when no client waited."""

    @property
    def is_waited_for(self) -> bool:
        """False: the request timed out, or its client is gone."""
        return not self.answer.done()


class Deduplication:
    def __init__(self, job: JobClient) -> None:
        self._job = job
        self._waiting = PendingRequests("waiting")
        self._asked: dict[_Line, list[_Asked]] = {}
        """Requests in the order of their events."""

    def ask(self, request: GroupRequest) -> asyncio.Future[Body]:
        """Send the request to the job, or wait for the response of the same request before."""
        if request.api not in _REPEATED:
            return self._job.ask(request)
        # The client's timeout differs from the job's, so each has its own future.
        waiting_id, response = self._waiting.add(request.timeout_s)
        asked = self._first_of(request)
        if asked is None:
            self._ask_job(_Asked(request, waiting_id, response))
            return response
        late = asked.late is not None
        _log.debug("api=%s group=%r repeat=True late=%s", request.api, request.group_id, late)
        asked.waiting_id, asked.answer = waiting_id, response
        if asked.late is not None:
            self._give(asked, asked.late)
        return response

    def _first_of(self, request: GroupRequest) -> _Asked | None:
        # A repeat must come behind a later request of the same member that is pending, so this resets the match.
        first = None
        for asked in self._asked.get(_line(request), ()):
            if asked.is_waited_for:
                first = None
            elif first is None and _is_same(asked.request, request):
                first = asked
        return first

    def _ask_job(self, asked: _Asked) -> None:
        self._asked.setdefault(_line(asked.request), []).append(asked)
        # The job's response is awaited even if the client gives up.
        response = self._job.ask(asked.request._replace(timeout_s=_OWED_S))
        response.add_done_callback(lambda _: self._settle(asked, response))

    def _settle(self, asked: _Asked, response: asyncio.Future[Body]) -> None:
        try:
            body = response.result()
        except NoAnswerError as error:
            self._forget(asked)
            self._waiting.fail(asked.waiting_id, error)
            return
        if asked.is_waited_for:
            self._give(asked, body)
        elif asked.request.body["memberId"]:
            asked.late = body
            asyncio.get_running_loop().call_later(_LATE_S, self._forget, asked)
        else:
            self._forget(asked)

    def _give(self, asked: _Asked, body: Body) -> None:
        # A member that gets this response will not get the earlier late ones: a repeat of those must come behind it.
        line = self._asked[_line(asked.request)]
        unheard = [each for each in line[: line.index(asked)] if each.late is not None]
        for each in (*unheard, asked):
            self._forget(each)
        self._waiting.answer(asked.waiting_id, body)

    def _forget(self, asked: _Asked) -> None:
        line = _line(asked.request)
        left = [each for each in self._asked.get(line, ()) if each is not asked]
        if left:
            self._asked[line] = left
        else:
            self._asked.pop(line, None)


def _line(request: GroupRequest) -> _Line:
    return request.api, request.group_id, request.body["memberId"]


def _is_same(one: GroupRequest, other: GroupRequest) -> bool:
    return one == other._replace(timeout_s=one.timeout_s)
