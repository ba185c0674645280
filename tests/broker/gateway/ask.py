"""A request of a conversation with a broker, or with the gateway."""

from __future__ import annotations

from typing import Any, NamedTuple

Body = dict[str, Any]


class Ask(NamedTuple):
    """One request."""

    api: str
    version: int
    body: Body
