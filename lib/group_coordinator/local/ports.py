"""Free ports of the loopback interface."""

from __future__ import annotations

import socket
from contextlib import ExitStack

LOOPBACK = "127.0.0.1"


def free_ports(count: int) -> list[int]:
    """That many different ports which nobody listened on a moment ago."""
    with ExitStack() as held:
        servers = [held.enter_context(socket.create_server((LOOPBACK, 0))) for _ in range(count)]
        return [server.getsockname()[1] for server in servers]


def is_free(port: int) -> bool:
    """Whether a server could listen there now."""
    try:
        socket.create_server((LOOPBACK, port)).close()
    except OSError:
        return False
    return True
