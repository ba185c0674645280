"""Clients of kafka-python that survive any outage of the cluster: they stay open, and connect again after a failure.

kafka-python's own producer (3.0) does not: after a batch that it tried for longer than `delivery_timeout_ms` it drops its
producer id, requests no other, and sends nothing more, without an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import Any, Generic

from kafka import KafkaProducer
from kafka.errors import KafkaError, KafkaTimeoutError, MessageSizeTooLargeError
from kafka.producer.future import FutureRecordMetadata

from group_coordinator.clients.cluster.connection import Client, Connection
from group_coordinator.runtime.outputs import Responses
from group_coordinator.settings import RECORD_OVERHEAD, JobSettings


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
        """Open the client, or return the open client. Raises ChannelError: the cluster does not answer, or rejects the login."""
        if self._client is None:
            self._client = self._connection.open(self._class, **self._options)
        return self._client

    @contextmanager
    def reported_failures(self) -> Iterator[None]:
        """Close the client after an error of Kafka in the block, so that the next use connects again, and raise a ChannelError."""
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


_CLOSE_TIMEOUT_S = 1
"""Timeout of a close; without it kafka-python waits for ever for records that it cannot send."""


class LastingProducer(LastingClient[KafkaProducer]):
    """Thread-safe producer that replaces a broken kafka-python producer."""

    def __init__(self, connection: Connection, **options: Any) -> None:
        """Take kafka-python's `options`; the first record connects."""
        super().__init__(connection, KafkaProducer, metrics_enabled=False, **options)
        self._lock = Lock()
        self._spent: KafkaProducer | None = None
        """Producer that can never send again."""

    def send(
        self, topic: str, *, key: bytes, value: bytes, partition: int | None = None
    ) -> FutureRecordMetadata:
        """Send a record, as kafka-python's producer does. Raises ChannelError: no answer; KafkaError: the record is not accepted."""
        producer = self.opened()
        sending = producer.send(topic, key=key, value=value, partition=partition)
        sending.add_errback(partial(self._not_sent, producer))
        return sending

    def partitions_for(self, topic: str) -> set[int]:
        """Partitions of a topic in kafka-python's metadata, which shows new partitions within some minutes.

        Raises ChannelError: the cluster does not answer; KafkaError: the partitions are unknown.
        """
        return set(self.opened().partitions_for(topic))

    def close(self) -> None:
        """Disconnect; the next record connects again."""
        with self._lock:
            self._close()

    def opened(self) -> KafkaProducer:
        """Open the producer, or replace a producer that can never send again."""
        with self._lock:
            if self._client is self._spent:
                self._close()
            return super().opened()

    def _not_sent(self, producer: KafkaProducer, error: Exception) -> None:
        # Called in the producer's thread, so the producer is replaced later.
        # Other errors concern a record; after these an idempotent producer sends nothing more.
        if isinstance(error, KafkaTimeoutError | MessageSizeTooLargeError):
            self._spent = producer

    def _close(self) -> None:
        producer, self._client = self._client, None
        if producer is not None:
            producer.close(timeout=_CLOSE_TIMEOUT_S)


_TIMEOUT_S = 150
"""Timeout, longer than kafka-python tries to deliver a record."""
_GATHER_MS = 2
"""Time to collect records for one request."""


class ResponseWriter:
    """Producer of responses in the driver: for a small batch a Spark job would take longer than the writes.

    `partitions` returns the partition count: a response to an unknown partition goes to the partition of its group.
    """

    def __init__(
        self, connection: Connection, job: JobSettings, partitions: Callable[[], int]
    ) -> None:
        self._topic = job.responses_topic
        self._partitions = partitions
        self._producer = LastingProducer(
            connection,
            acks="all",
            linger_ms=_GATHER_MS,
            max_request_size=job.response_max_bytes + RECORD_OVERHEAD,
            # Every client can read gzip without another library.
            compression_type="gzip",
        )

    @contextmanager
    def writing(self, responses: Iterable[Responses]) -> Iterator[None]:
        """Write the responses while the block runs; at its end the brokers have them all.

        ChannelError: the cluster does not accept all; some may be written.
        """
        with self._producer.reported_failures():
            present = self._present()
            sent = [
                self._producer.send(
                    self._topic,
                    key=group_id.encode(),
                    value=value,
                    # Without a partition the producer chooses by the key, the group id.
                    partition=partition if partition in present else None,
                )
                for group_id, partition, lines in responses
                for value in lines.split(b"\n")
            ]
            yield
            for future in sent:
                future.get(_TIMEOUT_S)

    def _present(self) -> set[int]:
        known = self._producer.partitions_for(self._topic)
        if len(known) >= self._partitions():
            return known
        # The producer's metadata is old, and a new connection reads it again.
        self.close()
        return self._producer.partitions_for(self._topic)

    def close(self) -> None:
        """Disconnect; the next responses connect again."""
        self._producer.close()
