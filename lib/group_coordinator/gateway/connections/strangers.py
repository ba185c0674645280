"""Clients that sent what may not come: told once for an address, as they come again and again."""

from __future__ import annotations

import logging
from collections import OrderedDict

from group_coordinator.gateway.connections.frames import FrameError

_REMEMBERED = 1_000
"""Addresses that were told about; of one more the oldest is forgotten."""
_TLS_HANDSHAKE = b"\x16\x03"
_HTTP_METHODS = (b"GET ", b"POST", b"HEAD", b"PUT ", b"OPTI", b"CONN", b"DELE", b"PATC")

_log = logging.getLogger(__name__)


class Strangers:
    """Remembers of whom it told."""

    def __init__(self) -> None:
        self._told: OrderedDict[str, None] = OrderedDict()

    def tell(self, host: str, first_bytes: bytes, error: FrameError) -> None:
        """Say what came, if it is the first time."""
        if host in self._told:
            return
        self._told[host] = None
        if len(self._told) > _REMEMBERED:
            self._told.popitem(last=False)
        _log.warning("Hung up on %s: %s", host, _guess(first_bytes) or error)


def _guess(first_bytes: bytes) -> str | None:
    if first_bytes.startswith(_TLS_HANDSHAKE):
        return "it speaks TLS, and this port is a plain one"
    if first_bytes.startswith(_HTTP_METHODS):
        return "it speaks HTTP, and this port speaks Kafka's protocol"
    return None
