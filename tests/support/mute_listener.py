"""A server that accepts connections and never responds, like a broker that hangs."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import NamedTuple


class MuteListener(NamedTuple):
    """`was_reached` is set once someone has connected."""

    bootstrap_server: str
    was_reached: Event


@contextmanager
def mute_listener() -> Iterator[MuteListener]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        found = MuteListener(f"127.0.0.1:{server.getsockname()[1]}", Event())
        connections: list[socket.socket] = []

        def accept() -> None:
            while True:
                try:
                    connections.append(server.accept()[0])
                except OSError:
                    return
                found.was_reached.set()

        Thread(target=accept, daemon=True).start()
        yield found
        for connection in connections:
            connection.close()
