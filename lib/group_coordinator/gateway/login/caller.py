"""Who asks, as the part that answers for groups has to know it."""

from __future__ import annotations

from ipaddress import IPv6Address
from struct import Struct
from typing import NamedTuple

from group_coordinator.core.acls.rule import ANONYMOUS

_GROUPS = Struct(">8H")


class Caller(NamedTuple):
    """Where a request comes from; `client_host` is as Kafka writes it, with a slash before the address."""

    client_id: str
    """Empty if the request has no client id, as in Kafka."""
    client_host: str
    principal: str
    node_id: int | None
    """Whose port the client uses; None: the bootstrap port."""

    @property
    def payer(self) -> str:
        """Whose budget its requests are of: a user's, or those who come from one address without a login."""
        return self.client_host if self.principal == ANONYMOUS else self.principal


def client_host(address: str) -> str:
    """Where a peer is, in Java's words: IPv6 has all its eight numbers there, "/0:0:0:0:0:0:0:1"."""
    if ":" not in address:
        return f"/{address}"
    return "/" + ":".join(f"{number:x}" for number in _GROUPS.unpack(IPv6Address(address).packed))
