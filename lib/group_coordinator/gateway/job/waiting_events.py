"""Events that wait for their producer, by client: each has its turn, so that nobody waits behind all that another one sends."""

from __future__ import annotations

from collections import deque
from threading import Condition
from typing import NamedTuple

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
