"""Queue of events for the events topic, with a turn for each client. A thread sends them, as the cluster may be unreachable."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable
from threading import Condition, Event
from typing import NamedTuple

from kafka.errors import KafkaError, MessageSizeTooLargeError

from group_coordinator.background import Background
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.lasting_client import LastingProducer
from group_coordinator.clients.errors import ChannelError
from group_coordinator.core.model.errors import ErrorCode

_MOST_EVENTS = 10_000
_MOST_BYTES = 64 * 1024 * 1024
_SHARES = 4
"""Part of the limits that one client may use: 2,500 events, and 16 MiB."""


class OutgoingEvent(NamedTuple):
    """Record for the events topic, and the time until which its client waits."""

    correlation_id: str
    group_id: str
    value: bytes
    send_by_s: float
    """Time of the monotonic clock. Later the client gets an error and repeats its request, so the first must not be sent."""
    client: str


class _Line:
    def __init__(self) -> None:
        self.events: deque[OutgoingEvent] = deque()
        self.bytes = 0


class WaitingEvents:
    """Queue that the event loop fills and the producer's thread empties."""

    def __init__(self) -> None:
        self._lines: dict[str, _Line] = {}
        """Queues by client; the client whose turn is next is the first."""
        self._count = 0
        self._bytes = 0
        self._changed = Condition()

    def put(self, event: OutgoingEvent) -> bool:
        size = len(event.value)
        with self._changed:
            line = self._lines.get(event.client) or _Line()
            if self._bytes > _MOST_BYTES or self._count >= _MOST_EVENTS:
                return False
            if line.bytes > _MOST_BYTES // _SHARES or len(line.events) >= _MOST_EVENTS // _SHARES:
                return False
            self._lines[event.client] = line
            line.events.append(event)
            line.bytes += size
            self._count += 1
            self._bytes += size
            self._changed.notify()
        return True

    def take(self, timeout_s: float) -> OutgoingEvent | None:
        """First event of the next client; None after the timeout."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._count, timeout_s):
                return None
            client = next(iter(self._lines))
            line = self._lines.pop(client)
            event = line.events.popleft()
            line.bytes -= len(event.value)
            self._count -= 1
            self._bytes -= len(event.value)
            # The client goes to the end of the queue.
            if line.events:
                self._lines[client] = line
        return event


_POLL_S = 0.1
_BROKER_TIMEOUT_MS = 9_000
"""Timeout of a silent broker, so that the next leader can get the event in time."""
_RETRY_S = 1.0
CLOSE_TIMEOUT_S = 2.0
"""Longest wait for the end of a thread, which may be in a call that lasts until the cluster is back."""

_log = logging.getLogger(__name__)


class EventsOut:
    """Queue and sending thread. A single producer keeps a client's events of a group in order."""

    def __init__(
        self,
        connection: Connection,
        events_topic: str,
        *,
        timeout_ms: int,
        max_event_bytes: int,
        on_failure: Callable[[str, ErrorCode], None],
    ) -> None:
        """Take the callback `on_failure` for unwritten events, which a thread of the producer calls; give up after `timeout_ms`."""
        self._events_topic = events_topic
        self._producer = LastingProducer(
            connection,
            acks="all",
            # A retry inside the producer must not change the order of a group's events.
            enable_idempotence=True,
            allow_auto_create_topics=False,
            # Key included: Kafka's default of max.message.bytes is as long as the longest event.
            max_request_size=max_event_bytes,
            max_block_ms=min(timeout_ms, _BROKER_TIMEOUT_MS),
            request_timeout_ms=min(timeout_ms, _BROKER_TIMEOUT_MS),
            delivery_timeout_ms=timeout_ms,
        )
        self._on_failure = on_failure
        self._waiting = WaitingEvents()
        self._thread = Background(self._run, "gateway-events")

    def start(self) -> None:
        self._thread.start()

    def put(self, event: OutgoingEvent) -> bool:
        """Add an event; False while the queue is full, in total or for its client."""
        return self._waiting.put(event)

    def close(self) -> None:
        self._thread.end(CLOSE_TIMEOUT_S)

    def _run(self, ended: Event) -> None:
        while not ended.is_set():
            event = self._waiting.take(_POLL_S)
            if event is None:
                continue
            # An event whose client has given up is not sent, as the client repeats its request.
            if time.monotonic() < event.send_by_s:
                self._send(event, ended)
            else:
                self._on_failure(event.correlation_id, ErrorCode.COORDINATOR_NOT_AVAILABLE)
        self._producer.close()

    def _send(self, event: OutgoingEvent, ended: Event) -> None:
        try:
            sending = self._producer.send(
                self._events_topic, key=event.group_id.encode(), value=event.value
            )
        except MessageSizeTooLargeError:
            self._on_failure(event.correlation_id, ErrorCode.INVALID_REQUEST)
        except (KafkaError, ChannelError) as error:
            self._on_failure(event.correlation_id, ErrorCode.COORDINATOR_NOT_AVAILABLE)
            _log.warning("events cannot be written to %s: %s", self._events_topic, error)
            self._producer.close()
            ended.wait(_RETRY_S)
        else:
            sending.add_errback(lambda error: self._on_failure(event.correlation_id, _code(error)))


def _code(error: Exception) -> ErrorCode:
    too_large = isinstance(error, MessageSizeTooLargeError)
    return ErrorCode.INVALID_REQUEST if too_large else ErrorCode.COORDINATOR_NOT_AVAILABLE
