"""Where the Kafka cluster is and how to log in to it."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kafka.errors import KafkaError

from group_coordinator.clients.errors import BrokerUnreachableError

DEFAULT_PORT = 9092
CONNECT_TIMEOUT_S = 5.0
BOOTSTRAP_TIMEOUT_MS = 10_000


@dataclass(frozen=True, slots=True)
class Connection:
    """How every client of this package connects; `options` are kafka-python's own, for security and tuning."""

    bootstrap_servers: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def client_options(self) -> dict[str, Any]:
        """Keyword arguments for any client of kafka-python."""
        return {
            "bootstrap_servers": self.bootstrap_servers.split(","),
            "bootstrap_timeout_ms": BOOTSTRAP_TIMEOUT_MS,
            **self.options,
        }

    def local_address(self) -> str:
        """This machine's address on the way to the cluster.

        A plain connection tells in a moment that nobody listens; kafka-python would try for 30 seconds.

        Raises:
            BrokerUnreachableError: no bootstrap server accepts a connection.
        """
        causes = []
        for host, port in self._addresses():
            try:
                with socket.create_connection((host, port), timeout=CONNECT_TIMEOUT_S) as probe:
                    return str(probe.getsockname()[0])
            except OSError as error:
                causes.append(f"{host}:{port}: {error.strerror or error}")
        raise BrokerUnreachableError(f"no Kafka broker answers ({'; '.join(causes)})")

    def _addresses(self) -> Iterator[tuple[str, int]]:
        for server in self.bootstrap_servers.split(","):
            host, colon, port = server.strip().rpartition(":")
            if not colon:
                yield port, DEFAULT_PORT
            elif port.isdecimal():
                yield host.strip("[]"), int(port)
            else:
                raise BrokerUnreachableError(f"{server!r} is not HOST:PORT")

    def unreachable(self, error: KafkaError) -> BrokerUnreachableError:
        """What kafka-python says, with the address that was tried."""
        return BrokerUnreachableError(f"Kafka at {self.bootstrap_servers}: {error}")
