"""Who asks, as the part that answers for groups has to know it."""

from __future__ import annotations

from typing import NamedTuple


class Caller(NamedTuple):
    """Where a request comes from; `client_host` is as Kafka writes it, with a slash before the address."""

    client_id: str | None
    client_host: str
    principal: str
    node_id: int | None
    """Whose port the client uses; None: the bootstrap port."""
