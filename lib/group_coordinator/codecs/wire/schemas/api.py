"""The definition of an API: its name, key and versions, then the fields of its request and of its response."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from group_coordinator.binary.notation import Field, Message


@dataclass(frozen=True, slots=True)
class Api:
    """An API with its messages. An API whose responses are only forwarded has no response."""

    name: str
    key: int
    versions: range
    flexible_since: int | None
    messages: tuple[Message, ...] = ()

    def with_messages(
        self, *, request: Iterable[Field], response: Iterable[Field] | None = None
    ) -> Api:
        """Add the fields of both messages."""
        request_ = self._message("Request", request)
        if response is None:
            return replace(self, messages=(request_,))
        return replace(self, messages=(request_, self._message("Response", response)))

    def _message(self, kind: str, fields: Iterable[Field]) -> Message:
        return Message(f"{self.name}{kind}", self.versions, self.flexible_since, tuple(fields))


def api(
    name: str, key: int, *, versions: tuple[int, int], flexible_since: int | None = None
) -> Api:
    """Define an API. `versions` has the first and the last, even if brokers do not offer the last yet (InitProducerId 6)."""
    first, last = versions
    return Api(name, key, range(first, last + 1), flexible_since)
