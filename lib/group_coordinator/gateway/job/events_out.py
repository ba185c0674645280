"""Events on their way to the events topic: each client has its turn; a separate thread sends them, as the cluster may be away."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable
from threading import Condition, Event
from typing import NamedTuple

from kafka.errors import KafkaError, MessageSizeTooLargeError

from group_coordinator.background import Background
from group_coordinator.clients.channel_errors import ChannelError
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.lasting_producer import LastingProducer
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.settings import RECORD_OVERHEAD

_MOST_EVENTS = 10_000
_MOST_BYTES = 64 * 1024 * 1024
_SHARES = 4
"""One client may have so large a part of what may wait: 2,500 events, and 16 MiB."""


class OutgoingEvent(NamedTuple):
    """A record for the events topic, and until when the client waits for what comes of it."""

    correlation_id: str
    group_id: str
    value: bytes
    send_by_s: float
    """By the monotonic clock; later the client is told to repeat its request, and the first one must not be done too."""
    client: str
    """Whose budget it is of."""


class _Line:
    """The events of one client, in the order of their coming."""

    def __init__(self) -> None:
        self.events: deque[OutgoingEvent] = deque()
        self.bytes = 0


class WaitingEvents:
    """Filled by the event loop, emptied by the producer's thread."""

    def __init__(self) -> None:
        self._lines: dict[str, _Line] = {}
        """The client whose turn is next is the first."""
        self._count = 0
        self._bytes = 0
        self._changed = Condition()

    def put(self, event: OutgoingEvent) -> bool:
        """Whether there was room."""
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
        """The first event of the client whose turn it is; None: there was none for so long."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._count, timeout_s):
                return None
            client = next(iter(self._lines))
            line = self._lines.pop(client)
            event = line.events.popleft()
            line.bytes -= len(event.value)
            self._count -= 1
            self._bytes -= len(event.value)
            if line.events:
                self._lines[client] = line
        return event


_POLL_S = 0.1
_BROKER_TIMEOUT_MS = 9_000
"""A broker that is silent for so long is left, so that its successor can still have the event in time."""
_RETRY_S = 1.0
CLOSE_TIMEOUT_S = 2.0
"""How long the end of a thread is waited for; it may be in a call that lasts as long as the cluster is away."""

_log = logging.getLogger(__name__)


class EventsOut:
    """What waits, and the thread behind it; one producer, so that a client's events of a group stay in order."""

    def __init__(
        self,
        connection: Connection,
        events_topic: str,
        *,
        timeout_ms: int,
        max_event_bytes: int,
        on_failure: Callable[[str, ErrorCode], None],
    ) -> None:
        """`on_failure` hears of events that were not written, in a thread of the producer; give up after `timeout_ms`."""
        self._events_topic = events_topic
        self._producer = LastingProducer(
            connection,
            acks="all",
            enable_idempotence=True,
            allow_auto_create_topics=False,
            max_request_size=max_event_bytes + RECORD_OVERHEAD,
            max_block_ms=min(timeout_ms, _BROKER_TIMEOUT_MS),
            request_timeout_ms=min(timeout_ms, _BROKER_TIMEOUT_MS),
            delivery_timeout_ms=timeout_ms,
        )
        self._on_failure = on_failure
        self._waiting = WaitingEvents()
        self._thread = Background(self._run, "gateway-events")

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def put(self, event: OutgoingEvent) -> bool:
        """Whether it will be sent: false while too much waits, of all or of its client."""
        return self._waiting.put(event)

    def close(self) -> None:
        """Stop sending; what waits is forgotten."""
        self._thread.end(CLOSE_TIMEOUT_S)

    def _run(self, ended: Event) -> None:
        while not ended.is_set():
            event = self._waiting.take(_POLL_S)
            if event is None:
                continue
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
            _log.warning("no event reaches %s: %s", self._events_topic, error)
            self._producer.close()
            ended.wait(_RETRY_S)
        else:
            sending.add_errback(lambda error: self._on_failure(event.correlation_id, _code(error)))


def _code(error: Exception) -> ErrorCode:
    too_large = isinstance(error, MessageSizeTooLargeError)
    return ErrorCode.INVALID_REQUEST if too_large else ErrorCode.COORDINATOR_NOT_AVAILABLE
