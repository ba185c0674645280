"""The definition of an API: its name, key and versions, then the fields of its request and of its response."""

from __future__ import annotations

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

    def request(self, *fields: Field) -> Api:
        return self._with("Request", fields)

    def response(self, *fields: Field) -> Api:
        return self._with("Response", fields)

    def _with(self, kind: str, fields: tuple[Field, ...]) -> Api:
        message = Message(f"{self.name}{kind}", self.versions, self.flexible_since, fields)
        return replace(self, messages=(*self.messages, message))


def api(
    name: str, key: int, *, versions: tuple[int, int], flexible_since: int | None = None
) -> Api:
    """Define an API. `versions` has the first and the last, even if brokers do not offer the last yet (InitProducerId 6)."""
    first, last = versions
    return Api(name, key, range(first, last + 1), flexible_since)
