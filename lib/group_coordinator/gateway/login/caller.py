"""Identity of a request's sender."""

from __future__ import annotations

from ipaddress import IPv6Address
from struct import Struct
from typing import NamedTuple

from group_coordinator.core.acls.rule import ANONYMOUS

_GROUPS = Struct(">8H")


class Caller(NamedTuple):
    """Sender of a request. `client_host` has Kafka's form, with a slash before the address."""

    client_id: str
    """Empty for a request without a client id, as in Kafka."""
    client_host: str
    principal: str
    node_id: int | None
    """Node whose port the client uses; None: the bootstrap port."""

    @property
    def payer(self) -> str:
        """Owner of the limits that a request counts for: the user, or without a login the address."""
        return self.client_host if self.principal == ANONYMOUS else self.principal


def client_host(address: str) -> str:
    """Host of a peer in Java's form: IPv6 with all its eight numbers, "/0:0:0:0:0:0:0:1"."""
    if ":" not in address:
        return f"/{address}"
    return "/" + ":".join(f"{number:x}" for number in _GROUPS.unpack(IPv6Address(address).packed))
