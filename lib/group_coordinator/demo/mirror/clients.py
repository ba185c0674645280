"""Ordinary consumers with Python's two libraries. They commit automatically, once a second."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Protocol

from confluent_kafka import Consumer, KafkaException, Message, Producer
from kafka import KafkaConsumer

from group_coordinator.demo.mirror.cast import LEDGER_TOPIC, Application

POLL_S = 0.5
_COMMIT_INTERVAL_MS = 1_000
_log = logging.getLogger(__name__)


class ReadingClient(Protocol):
    """A consumer for an application, used in a single thread."""

    def read(self, at_most: int) -> int:
        """Take the records of half a second, and return their number."""
        ...

    def pause(self) -> None:
        """Take no more records, and stay in the group."""
        ...

    def close(self) -> None:
        """Commit the processed records, and leave the group."""
        ...


def open_client(application: Application, servers: str, prefix: str) -> ReadingClient:
    """Return the consumer that the application needs, subscribed to its topics."""
    if application.client == "kafka-python":
        return KafkaPythonClient(application, servers)
    if application.client == "transactions":
        return TransactionalClient(application, servers, prefix + LEDGER_TOPIC)
    return LibrdkafkaClient(application, servers)


class LibrdkafkaClient:
    """Consumer of both protocols by librdkafka."""

    def __init__(self, application: Application, servers: str) -> None:
        self._consumer = _librdkafka_consumer(application, servers, commits=True)

    def read(self, at_most: int) -> int:
        """Wait for this number of records, half a second at most."""
        return len(_records(self._consumer.consume(at_most, POLL_S)))

    def pause(self) -> None:
        self._consumer.pause(self._consumer.assignment())

    def close(self) -> None:
        self._consumer.close()


class KafkaPythonClient:
    """Consumer of the classic protocol; as Java's, it commits every position each time, even if unchanged."""

    def __init__(self, application: Application, servers: str) -> None:
        self._consumer = KafkaConsumer(
            *application.topics,
            bootstrap_servers=servers,
            group_id=application.group_id,
            client_id=application.group_id,
            auto_offset_reset="earliest",
            auto_commit_interval_ms=_COMMIT_INTERVAL_MS,
        )

    def read(self, at_most: int) -> int:
        """Take the first records, and wait for them half a second at most."""
        found = self._consumer.poll(timeout_ms=round(POLL_S * 1000), max_records=at_most)
        return sum(len(records) for records in found.values())

    def pause(self) -> None:
        self._consumer.pause(*self._consumer.assignment())

    def close(self) -> None:
        self._consumer.close()


class TransactionalClient:
    """Writes a record for each record that it reads; both, and its offsets, in the same transaction (KIP-447)."""

    def __init__(self, application: Application, servers: str, ledger_topic: str) -> None:
        self._ledger_topic = ledger_topic
        self._consumer = _librdkafka_consumer(application, servers, commits=False)
        known = {"bootstrap.servers": servers, "transactional.id": application.group_id}
        self._producer = Producer(known, logger=_log)
        self._producer.init_transactions()

    def read(self, at_most: int) -> int:
        """Run a transaction, if there is a record."""
        records = _records(self._consumer.consume(at_most, POLL_S))
        if not records:
            return 0
        self._producer.begin_transaction()
        for record in records:
            self._producer.produce(self._ledger_topic, record.value())
        assigned = self._consumer.position(self._consumer.assignment())
        positions = [position for position in assigned if position.offset >= 0]
        group = self._consumer.consumer_group_metadata()
        self._producer.send_offsets_to_transaction(positions, group)
        self._producer.commit_transaction()
        return len(records)

    def pause(self) -> None:
        self._consumer.pause(self._consumer.assignment())

    def close(self) -> None:
        self._consumer.close()


def _librdkafka_consumer(application: Application, servers: str, *, commits: bool) -> Consumer:
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": application.group_id,
            "client.id": application.group_id,
            "group.protocol": application.protocol,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": commits,
            "auto.commit.interval.ms": _COMMIT_INTERVAL_MS,
        },
        logger=_log,
    )
    consumer.subscribe(list(application.topics))
    return consumer


def _records(messages: Iterable[Message]) -> list[Message]:
    # librdkafka returns errors among the records: a deleted topic is no reason to stop.
    records = []
    for message in messages:
        error = message.error()
        if error is None:
            records.append(message)
        elif error.fatal():
            raise KafkaException(error)
        else:
            _log.warning("%s", error)
    return records
