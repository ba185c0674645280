"""A producer that lives through any outage of the cluster.

kafka-python's own (3.0) does not: with a batch that it tried for longer than `delivery_timeout_ms` it drops its producer id,
asks for no other, and sends nothing any more; nor does it say so.
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
"""What has no answer by then has failed; without an end kafka-python waits for ever for what it cannot send."""


class LastingProducer(LastingClient[KafkaProducer]):
    """Any number of threads may send."""

    def __init__(self, connection: Connection, **options: Any) -> None:
        """`options` are kafka-python's; it connects when it first sends."""
        super().__init__(connection, KafkaProducer, **options)
        self._lock = Lock()
        self._spent: KafkaProducer | None = None
        """The one that may never send again."""

    def send(
        self, topic: str, *, key: bytes, value: bytes, partition: int | None = None
    ) -> FutureRecordMetadata:
        """As kafka-python's.

        Raises:
            ChannelError: the cluster does not answer.
            KafkaError: the record is not taken.
        """
        producer = self.opened()
        sending = producer.send(topic, key=key, value=value, partition=partition)
        sending.add_errback(partial(self._not_sent, producer))
        return sending

    def partitions_for(self, topic: str) -> set[int]:
        """The partitions of a topic as far as kafka-python knows: of new ones it hears within some minutes.

        Raises:
            ChannelError: the cluster does not answer.
            KafkaError: it does not tell.
        """
        return set(self.opened().partitions_for(topic))

    def close(self) -> None:
        """Disconnect; the next record connects again."""
        with self._lock:
            self._close()

    def opened(self) -> KafkaProducer:
        """As the base, and another producer in place of one that may never send again."""
        with self._lock:
            if self._client is self._spent:
                self._close()
            return super().opened()

    def _not_sent(self, producer: KafkaProducer, error: Exception) -> None:
        """In the producer's thread."""
        if isinstance(error, KafkaTimeoutError):
            self._spent = producer

    def _close(self) -> None:
        producer, self._client = self._client, None
        if producer is not None:
            producer.close(timeout=_CLOSE_TIMEOUT_S)
