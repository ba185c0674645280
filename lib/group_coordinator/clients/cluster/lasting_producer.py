"""Producer that survives any outage of the cluster.

kafka-python's own (3.0) does not: after a batch that it tried for longer than `delivery_timeout_ms` it drops its
producer id, requests no other, and sends nothing more, without an error.
"""

from __future__ import annotations

from functools import partial
from threading import Lock
from typing import Any

from kafka import KafkaProducer
from kafka.errors import KafkaTimeoutError
from kafka.producer.future import FutureRecordMetadata

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.lasting_client import LastingClient

_CLOSE_TIMEOUT_S = 1
"""Timeout of a close; without it kafka-python waits for ever for records that it cannot send."""


class LastingProducer(LastingClient[KafkaProducer]):
    """Thread-safe producer that replaces a broken kafka-python producer."""

    def __init__(self, connection: Connection, **options: Any) -> None:
        """Take kafka-python's `options`; the first record connects."""
        super().__init__(connection, KafkaProducer, **options)
        self._lock = Lock()
        self._spent: KafkaProducer | None = None
        """Producer that can never send again."""

    def send(
        self, topic: str, *, key: bytes, value: bytes, partition: int | None = None
    ) -> FutureRecordMetadata:
        """Send a record, as kafka-python's producer does.

        Raises:
            ChannelError: the cluster does not answer.
            KafkaError: the record is not accepted.
        """
        producer = self.opened()
        sending = producer.send(topic, key=key, value=value, partition=partition)
        sending.add_errback(partial(self._not_sent, producer))
        return sending

    def partitions_for(self, topic: str) -> set[int]:
        """Partitions of a topic in kafka-python's metadata, which shows new partitions within some minutes.

        Raises:
            ChannelError: the cluster does not answer.
            KafkaError: the partitions are unknown.
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
        # Other errors concern a record; after this one the producer sends nothing more.
        if isinstance(error, KafkaTimeoutError):
            self._spent = producer

    def _close(self) -> None:
        producer, self._client = self._client, None
        if producer is not None:
            producer.close(timeout=_CLOSE_TIMEOUT_S)
