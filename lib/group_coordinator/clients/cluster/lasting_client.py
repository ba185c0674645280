"""Base of kafka-python clients that stay open, and connect again after a failure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic

from kafka.errors import KafkaError

from group_coordinator.clients.cluster.connection import Client, Connection


class LastingClient(Generic[Client]):
    """Client that connects at its first use; `options` are those of the client's class."""

    def __init__(
        self, connection: Connection, client: Callable[..., Client], **options: Any
    ) -> None:
        self._connection = connection
        self._class = client
        self._options = options
        self._client: Client | None = None

    def opened(self) -> Client:
        """Open the client, or return the open client.

        Raises:
            ChannelError: the cluster does not answer, or rejects the login.
        """
        if self._client is None:
            self._client = self._connection.open(self._class, **self._options)
        return self._client

    @contextmanager
    def reported_failures(self) -> Iterator[None]:
        """Close the client after an error of Kafka in the block, so that the next use connects again.

        Raises:
            ChannelError: the error, as the connection describes it.
        """
        try:
            yield
        except KafkaError as error:
            self.close()
            raise self._connection.failure(error) from error

    def close(self) -> None:
        """Disconnect; the next use connects again."""
        # Dropped first: an error of the close must not keep the broken client.
        client, self._client = self._client, None
        if client is not None:
            client.close()
