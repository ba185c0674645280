"""Latency of the coordinator, as its clients see it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from math import ceil
from statistics import median
from threading import Lock
from typing import NamedTuple

from group_coordinator.clients.channel.channel import Body, Channel, Request

_WINDOW_S = 20.0
# Responses to these wait until all members have joined, so their latency does not depend on the coordinator.
_PARKED = frozenset({"JoinGroup", "SyncGroup"})


class Latency(NamedTuple):
    """Latencies of the responses in a time interval."""

    median_s: float
    p99_s: float


def latency_of(waits_s: list[float]) -> Latency | None:
    """Return median and 99th percentile (nearest rank); None without responses."""
    if not waits_s:
        return None
    ordered = sorted(waits_s)
    return Latency(median(ordered), ordered[ceil(len(ordered) * 0.99) - 1])


class Measures:
    """Counts of requests and responses of the last seconds, and of the whole demo."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._sent: deque[float] = deque()
        self._answered: deque[tuple[float, float]] = deque()
        self._all_waits_s: list[float] = []
        self.sent_count = 0
        self.unanswered_count = 0

    def sent(self) -> float:
        """Count a request and return its time."""
        now_s = self._clock()
        with self._lock:
            self._sent.append(now_s)
            self.sent_count += 1
        return now_s

    def answered(self, sent_s: float) -> None:
        """Count a response to a request of this time."""
        now_s = self._clock()
        with self._lock:
            self._answered.append((now_s, now_s - sent_s))
            self._all_waits_s.append(now_s - sent_s)

    def unanswered(self) -> None:
        """Count a request that will get no response."""
        with self._lock:
            self.unanswered_count += 1

    def requests_per_s(self) -> float:
        """Return the rate of the last seconds."""
        now_s = self._clock()
        with self._lock:
            while self._sent and self._sent[0] < now_s - _WINDOW_S:
                self._sent.popleft()
            if not self._sent:
                return 0.0
            return len(self._sent) / max(1.0, min(_WINDOW_S, now_s - self._sent[0]))

    def recent(self) -> Latency | None:
        """Return the latency of the last seconds."""
        now_s = self._clock()
        with self._lock:
            while self._answered and self._answered[0][0] < now_s - _WINDOW_S:
                self._answered.popleft()
            return latency_of([wait_s for _, wait_s in self._answered])

    def overall(self) -> Latency | None:
        """Return the latency of all responses."""
        with self._lock:
            return latency_of(self._all_waits_s)


class MeasuredChannel:
    """A channel that measures its requests."""

    def __init__(self, channel: Channel, measures: Measures) -> None:
        self._channel = channel
        self._measures = measures

    def send(self, request: Request, *, timeout_ms: int | None = None) -> Future[Body]:
        sent_s = self._measures.sent()
        reply = self._channel.send(request, timeout_ms=timeout_ms)
        is_parked = request.api in _PARKED

        def note(done: Future[Body]) -> None:
            if done.exception() is not None:
                self._measures.unanswered()
            elif not is_parked:
                self._measures.answered(sent_s)

        reply.add_done_callback(note)
        return reply
