"""Looks for the coordinator's own topics in the bytes of requests that nobody decodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol
from weakref import ref

from group_coordinator.gateway.connections.frames import SIZE
from group_coordinator.gateway.served import Api

_REQUEST_MAX_BYTES = 4 * 1024
"""A longer request is searched when it is whole."""
_SEARCHED_BYTES = 8 * 1024
"""Requests that came together are searched together."""


class OwnTopics(Protocol):
    """The topics that only the coordinator's own users may use."""

    encoded: frozenset[bytes]
    """Their names on the wire."""

    apis: Mapping[int, Api]
    """Those for clients, by key."""

    def traces(self, principal: str) -> Sequence[bytes]:
        """One of them is in the bytes of every request that names one by name or id; none: the user may use them."""


class Principal(Protocol):
    """Who sends the requests."""

    principal: str


class TopicSearch:
    """Searches one client's requests."""

    def __init__(self, own_topics: OwnTopics, client: Principal) -> None:
        self._own_topics = own_topics
        self._client = client
        self._searched: Callable[[], memoryview | None] = _nothing
        self._is_clear_until = 0
        """In the bytes that were searched there is no trace before this."""

    def is_clear(self, data: memoryview, at: int, size: int) -> bool:
        """Whether a request that begins there has no trace of a topic, as far as a look says so: it must be short, and be here as a whole."""
        end = at + SIZE.size + size
        if self._searched() is data and end <= self._is_clear_until:
            return True
        traces = self._own_topics.traces(self._client.principal)
        if not traces:
            return True
        if size > _REQUEST_MAX_BYTES or end > len(data):
            return False
        searched = bytes(data[at : at + _SEARCHED_BYTES])
        # One by one: that takes a fifth of the time of a pattern.
        for trace in traces:
            if trace in searched:
                request = searched[: end - at]
                return not any(each in request for each in traces)
        # The bytes lie in a buffer that all connections share: none keeps it for later.
        self._searched, self._is_clear_until = ref(data), at + len(searched)
        return True


def _nothing() -> None:
    """What was searched before there was anything."""
