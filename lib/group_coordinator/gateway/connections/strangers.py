"""Log of closed connections: a line for each address and for each defect, however often they repeat."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Hashable
from traceback import walk_tb

_REMEMBERED = 1_000
"""Limit of remembered addresses and defects; the oldest is forgotten."""
_TLS_HANDSHAKE = b"\x16\x03"
_HTTP_METHODS = (b"GET ", b"POST", b"HEAD", b"PUT ", b"OPTI", b"CONN", b"DELE", b"PATC")

_log = logging.getLogger(__name__)


class Strangers:
    """Remembers the logged addresses and defects."""

    def __init__(self) -> None:
        self._reported: OrderedDict[Hashable, None] = OrderedDict()

    def report(self, host: str, first_bytes: bytes, error: Exception) -> None:
        """Log the first invalid bytes of an address."""
        if self._is_new(host):
            _log.warning("Hung up on %s: %s", host, _guess(first_bytes) or error)

    def report_defect(self, host: str, error: BaseException) -> None:
        """Log where the error was raised, once, as a client may cause it again and again."""
        if self._is_new(_raised_at(error)):
            _log.error("Hung up on %s", host, exc_info=error)
        elif self._is_new((host, type(error))):
            _log.error("Hung up on %s: %s, as before", host, type(error).__name__)

    def _is_new(self, what: Hashable) -> bool:
        is_new = what not in self._reported
        self._reported[what] = None
        if len(self._reported) > _REMEMBERED:
            self._reported.popitem(last=False)
        return is_new


def _raised_at(error: BaseException) -> Hashable:
    # The innermost frame identifies the defect, whatever led to it.
    places = [(frame.f_code, line) for frame, line in walk_tb(error.__traceback__)]
    return type(error), *places[-1:]


def _guess(first_bytes: bytes) -> str | None:
    if first_bytes.startswith(_TLS_HANDSHAKE):
        return "it speaks TLS, and this port is a plain one"
    if first_bytes.startswith(_HTTP_METHODS):
        return "it speaks HTTP, and this port speaks Kafka's protocol"
    return None
