"""Limits of the process: TLS buffers of asyncio, open files, and the certificate of the ports, which may be renewed."""

from __future__ import annotations

import asyncio
import logging
import resource
from asyncio.sslproto import SSLProtocol
from pathlib import Path
from ssl import SSLContext
from typing import Any

from group_coordinator.gateway.cluster.broker_access import listener_context
from group_coordinator.gateway.start_errors import GatewayStartError

FIRST_BYTES = 4 * 1024
"""Bytes of a handshake that arrive at once. OpenSSL itself keeps an incomplete record, up to 16 KiB."""


def begin_small() -> None:
    """Set small buffers for all connections of this process from now on."""
    SSLProtocol.max_size = FIRST_BYTES


def resize(transport: asyncio.BaseTransport, size: int) -> None:
    """Set the buffer size of an encrypted connection. A larger buffer is allocated when it is needed."""
    encrypted: Any = transport
    encrypted.set_read_buffer_limits(high=size)
    protocol = getattr(transport, "_ssl_protocol", None)
    if protocol is not None:
        protocol.max_size = size


_MANY = 1 << 20
_KEPT = 256
"""Files for brokers, tables, logs and the health port."""

_log = logging.getLogger(__name__)


def connections_within_limit(wanted: int) -> int:
    """Return the value of gateway.max.connections, or less where the limit of open files is lower, so that the health port still answers."""
    most = raise_open_files()
    if most < wanted:
        _log.warning(
            "gateway.max.connections = %d: the limit of open files allows %d: raise that limit to %d, or lower "
            "the setting",
            wanted,
            most,
            2 * wanted + _KEPT,
        )
    return min(most, wanted)


def raise_open_files() -> int:
    """Raise the limit of open files, to a million at most; return how many connections fit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MANY if hard == resource.RLIM_INFINITY else min(hard, _MANY)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    # A client's connection may need a second socket, to its broker.
    return max((most - _KEPT) // 2, 1)


_LOOK_INTERVAL_S = 10.0


class CertificateRenewal:
    """Reloads the certificate of the ports when its file changes. Open connections keep their certificate."""

    def __init__(self, context: SSLContext, key_store: str) -> None:
        self._context = context
        self._key_store = key_store
        self._changed_at_ns = _changed_at_ns(key_store)

    async def keep(self) -> None:
        """Check the file at each interval, until this is cancelled."""
        while True:
            await asyncio.sleep(_LOOK_INTERVAL_S)
            self.look()

    def look(self) -> None:
        """Load the file if it has changed. Errors are logged."""
        changed_at_ns = _changed_at_ns(self._key_store)
        if changed_at_ns == self._changed_at_ns:
            return
        self._changed_at_ns = changed_at_ns
        try:
            listener_context(
                self._key_store, ""
            )  # an incomplete file would damage the context in use
            self._context.load_cert_chain(self._key_store, password="")
        except (GatewayStartError, OSError, ValueError) as error:
            _log.error("The last certificate stays in use: %s", error)
        else:
            _log.info(
                "gateway.ssl.keystore.location = %s: the new certificate is in use", self._key_store
            )


def _changed_at_ns(file: str) -> int:
    try:
        return Path(file).stat().st_mtime_ns
    except OSError:
        # The file may be missing while it is replaced.
        return 0
