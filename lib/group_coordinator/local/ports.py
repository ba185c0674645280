"""Free ports of the loopback interface."""

from __future__ import annotations

import secrets
import socket
from contextlib import ExitStack, suppress

LOOPBACK = "127.0.0.1"
_NOT_FOR_CLIENTS = range(20_000, 32_000)
"""Range below 32,768, where systems take the ports of clients: such a port may be in use before a server listens."""


def free_ports(count: int) -> list[int]:
    """Different ports that were free at the time of the call."""
    with ExitStack() as held:
        return [_held_port(held) for _ in range(count)]


def free_row(count: int) -> int:
    """First of `count` consecutive ports that were free at the time of the call."""
    while True:
        port = secrets.choice(_NOT_FOR_CLIENTS)
        with ExitStack() as held, suppress(OSError):
            for number in range(count):
                held.enter_context(socket.create_server((LOOPBACK, port + number)))
            return port


def _held_port(held: ExitStack) -> int:
    while True:
        port = secrets.choice(_NOT_FOR_CLIENTS)
        with suppress(OSError):
            held.enter_context(socket.create_server((LOOPBACK, port)))
            return port


def is_free(port: int) -> bool:
    """Return True if a server could listen there now."""
    try:
        socket.create_server((LOOPBACK, port)).close()
    except OSError:
        return False
    return True
