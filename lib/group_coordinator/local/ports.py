"""Free ports of the loopback interface."""

from __future__ import annotations

import secrets
import socket
from contextlib import ExitStack, suppress

LOOPBACK = "127.0.0.1"
_NOT_FOR_CLIENTS = range(20_000, 32_000)
"""Systems give clients ports from 32,768 on: one of these would be gone before a server listens there."""


def free_ports(count: int) -> list[int]:
    """That many different ports which nobody listened on a moment ago."""
    with ExitStack() as held:
        return [_held_port(held) for _ in range(count)]


def free_row(count: int) -> int:
    """The first of that many ports that follow each other, on which nobody listened a moment ago."""
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
    """Whether a server could listen there now."""
    try:
        socket.create_server((LOOPBACK, port)).close()
    except OSError:
        return False
    return True
