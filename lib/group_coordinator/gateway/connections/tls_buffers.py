"""Limits of the process: the buffers of asyncio's TLS, the open files, and the certificate of the ports, which may be renewed."""

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
"""What a handshake brings at once. OpenSSL itself keeps a record, 16 KiB, until it is whole."""


def begin_small() -> None:
    """For all connections of this process that are made from now on."""
    SSLProtocol.max_size = FIRST_BYTES


def resize(transport: asyncio.BaseTransport, size: int) -> None:
    """For one that is encrypted. A larger buffer is made when it is needed."""
    encrypted: Any = transport
    encrypted.set_read_buffer_limits(high=size)
    protocol = getattr(transport, "_ssl_protocol", None)
    if protocol is not None:
        protocol.max_size = size


_MANY = 1 << 20
_KEPT = 256
"""For brokers, tables, logs and the health port."""

_log = logging.getLogger(__name__)


def connections_within_limit(wanted: int) -> int:
    """Return the value of gateway.max.connections, or less where the limit of open files is lower: the health port must still answer."""
    most = raise_open_files()
    if most < wanted:
        _log.warning(
            "gateway.max.connections = %d: the limit of open files is enough for %d: raise it to %d, or lower the setting",
            wanted,
            most,
            2 * wanted + _KEPT,
        )
    return min(most, wanted)


def raise_open_files() -> int:
    """As many as this process may have, up to a million; returns how many connections these are enough for."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MANY if hard == resource.RLIM_INFINITY else min(hard, _MANY)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return max((most - _KEPT) // 2, 1)


_LOOK_INTERVAL_S = 10.0


class CertificateRenewal:
    """Looks after one file, which the context was made of; connections that are open keep the certificate that they had."""

    def __init__(self, context: SSLContext, key_store: str) -> None:
        self._context = context
        self._key_store = key_store
        self._changed_at_ns = _changed_at_ns(key_store)

    async def keep(self) -> None:
        """Look again and again, until this is cancelled."""
        while True:
            await asyncio.sleep(_LOOK_INTERVAL_S)
            self.look()

    def look(self) -> None:
        """Load the file if it has changed; the log says if it cannot be used."""
        changed_at_ns = _changed_at_ns(self._key_store)
        if changed_at_ns == self._changed_at_ns:
            return
        self._changed_at_ns = changed_at_ns
        try:
            listener_context(self._key_store, "")  # half a file would spoil the context in use
            self._context.load_cert_chain(self._key_store, password="")
        except (GatewayStartError, OSError, ValueError) as error:
            _log.error("The certificate stays as it was: %s", error)
        else:
            _log.info(
                "gateway.ssl.keystore.location = %s: its new certificate counts", self._key_store
            )


def _changed_at_ns(file: str) -> int:
    """0: it is not there."""
    try:
        return Path(file).stat().st_mtime_ns
    except OSError:
        return 0
