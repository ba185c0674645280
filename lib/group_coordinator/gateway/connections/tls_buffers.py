"""The buffers of asyncio's TLS: it makes 256 KiB for each connection before its first byte comes, and has no public way to less."""

from __future__ import annotations

import asyncio
from asyncio.sslproto import SSLProtocol
from typing import Any

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
