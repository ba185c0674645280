"""Many connections at once before a login, with frames at their limits: in a process of its own.

    python -m tests.attack.crowd PORT CERTIFICATE CONNECTIONS

Prints a line of JSON when all are there and have sent what they will, waits for the end of its input, and prints another one.
"""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from pathlib import Path

import click

from group_coordinator.gateway.connections.tcp_connection import raise_open_files
from tests.attack.before_login import (
    BEFORE_BYTES,
    HANDSHAKE,
    SASL_BYTES,
    api_versions,
    authenticate,
    authenticate_without_a_name,
)
from tests.attack.client import Client

_HANDS = 32
_BY_ADDRESS = 250
_SEND_S = 5.0
_LOOK_S = 0.001
_AUTHENTICATE, _API_VERSIONS = authenticate(SASL_BYTES), api_versions(BEFORE_BYTES)
_REFUSED = authenticate_without_a_name(SASL_BYTES)


class Crowd:
    """Every fourth one sends whole frames; the others leave the last byte out."""

    def __init__(self, port: int, trusted: Path) -> None:
        self._port = port
        self._trusted = trusted
        self._open: list[Client] = []
        self.refused = self.held_back = self.hung_up = 0

    def come(self, connections: int) -> None:
        """Return when all have sent what the gateway takes."""
        frames = [_AUTHENTICATE[:-1], _AUTHENTICATE[:-1], _API_VERSIONS[:-1], _REFUSED]
        with ThreadPoolExecutor(_HANDS) as hands:
            numbered = enumerate(islice(cycle(frames), connections))
            list(hands.map(lambda each: self._attack(*each), numbered))

    def _attack(self, number: int, frame: bytes) -> None:
        try:
            # Few of one address, as limits by address are another attack's.
            client = Client(self._port, self._trusted, f"127.0.1.{1 + number // _BY_ADDRESS}")
        except OSError:
            self.refused += 1
            return
        self._open.append(client)
        client.socket.settimeout(_SEND_S)
        try:
            if len(frame) > BEFORE_BYTES + 4:
                client.ask("SaslHandshake", 1, HANDSHAKE)
            client.socket.sendall(frame)
        except TimeoutError:
            self.held_back += 1
        except OSError:
            self.hung_up += 1

    @property
    def still_there(self) -> int:
        """Return how many the gateway has not hung up on."""
        return sum(not client.is_hung_up(_LOOK_S) for client in self._open)


def main() -> None:
    """Come, stay, and count."""
    port, trusted, connections = sys.argv[1:]
    raise_open_files()
    crowd, begun_s = Crowd(int(port), Path(trusted)), time.monotonic()
    crowd.come(int(connections))
    took_s = round(time.monotonic() - begun_s, 1)
    counts = {"refused": crowd.refused, "held back": crowd.held_back, "hung up on": crowd.hung_up}
    click.echo(json.dumps({**counts, "seconds": took_s}))
    sys.stdin.read()
    click.echo(json.dumps({"still there": crowd.still_there}))


if __name__ == "__main__":
    main()
