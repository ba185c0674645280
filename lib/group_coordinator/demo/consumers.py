"""Ordinary consumers of the shop's topics, with Python's two Kafka libraries. They commit automatically, once a second."""

from __future__ import annotations

import logging
from collections import defaultdict
from contextlib import closing
from threading import Event, Thread
from typing import Literal, NamedTuple

from confluent_kafka import Consumer, KafkaException, Message, Producer
from kafka import KafkaConsumer
from kafka.errors import KafkaError

from group_coordinator.clients.errors import ClientError

PARTITION_COUNTS = {"orders": 3, "payments": 2, "shipments": 2, "clicks": 3, "reviews": 2}
"""The topics that the shop writes."""
LEDGER_TOPIC = "ledger"
"""The topic that an application writes, in transactions; it has one partition."""

_POLL_S = 0.5
_COMMIT_INTERVAL_MS = 1_000
_UNLIMITED = 500
"""More records than the shop writes between two polls."""
_log = logging.getLogger(__name__)


class Application(NamedTuple):
    group_id: str
    topics: tuple[str, ...]
    member_count: int = 1
    client: Literal["librdkafka", "kafka-python", "transactions"] = "librdkafka"
    """Library of its members; `transactions`: they read, write and commit in a transaction, by librdkafka."""
    protocol: Literal["classic", "consumer"] = "classic"
    """Protocol of the members; `consumer` is the new protocol (KIP-848)."""
    records_a_poll: int = _UNLIMITED


RETURNS_DESK = Application("returns-desk", ("orders", "shipments"), 2)
"""Leaves, and stays away: it loses its offsets after a minute."""
RECOMMENDATIONS = Application("recommendations", ("clicks",), 2)
"""Is stopped, reset to the first record by an administrator, and started again."""
LOYALTY_POINTS = Application("loyalty-points", ("orders", "payments"), 2, protocol="consumer")
"""A new version reads one topic less, whose offsets an administrator deletes."""
SPRING_SALE = Application("spring-sale", ("clicks",))
"""Is no longer needed: an administrator deletes the group."""
NEWSLETTER = Application("newsletter", ("reviews",), protocol="consumer")
"""Leaves late: its offsets expire next."""
BILLING = Application("billing", ("payments",), 2, client="kafka-python")
"""Is to be deleted by mistake, but has members."""
SEARCH_INDEX = Application("search-index", ("reviews",), client="kafka-python")
ACCOUNTING = Application("accounting", ("payments",), client="transactions")


class ConsumerFailedError(ClientError):
    """A consumer gave up; the message has its group and its error."""


class LibrdkafkaClient:
    """Consumer of both protocols by librdkafka, used in a single thread."""

    def __init__(self, application: Application, servers: str, *, commits: bool = True) -> None:
        self._consumer = Consumer(
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
        self._consumer.subscribe(list(application.topics))

    def read(self, at_most: int) -> int:
        return len(self._records(at_most))

    def pause(self) -> None:
        self._consumer.pause(self._consumer.assignment())

    def close(self) -> None:
        self._consumer.close()

    def _records(self, at_most: int) -> list[Message]:
        # librdkafka returns errors among the records: a deleted topic is no reason to stop.
        records = []
        for message in self._consumer.consume(at_most, _POLL_S):
            error = message.error()
            if error is None:
                records.append(message)
            elif error.fatal():
                raise KafkaException(error)
            else:
                _log.warning("%s", error)
        return records


class TransactionalClient(LibrdkafkaClient):
    """Writes a record for each record that it reads; both, and its offsets, in the same transaction (KIP-447)."""

    def __init__(self, application: Application, servers: str, ledger_topic: str) -> None:
        super().__init__(application, servers, commits=False)
        self._ledger_topic = ledger_topic
        options = {"bootstrap.servers": servers, "transactional.id": application.group_id}
        self._producer = Producer(options, logger=_log)
        self._producer.init_transactions()

    def read(self, at_most: int) -> int:
        records = self._records(at_most)
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
        found = self._consumer.poll(timeout_ms=round(_POLL_S * 1000), max_records=at_most)
        return sum(len(records) for records in found.values())

    def pause(self) -> None:
        self._consumer.pause(*self._consumer.assignment())

    def close(self) -> None:
        self._consumer.close()


def open_client(
    application: Application, servers: str, prefix: str
) -> LibrdkafkaClient | KafkaPythonClient:
    if application.client == "kafka-python":
        return KafkaPythonClient(application, servers)
    if application.client == "transactions":
        return TransactionalClient(application, servers, prefix + LEDGER_TOPIC)
    return LibrdkafkaClient(application, servers)


class RunningConsumer:
    """A consumer in a thread of its own, from its start to its leave; the application has the names of this cluster."""

    def __init__(self, application: Application, servers: str, prefix: str) -> None:
        self._application = application
        self._servers = servers
        self._prefix = prefix
        self.leaving = Event()
        """Set: it commits and leaves."""
        self._failure: KafkaError | KafkaException | None = None
        self.record_count = 0
        """Records that it has read."""
        self.is_paused = False
        self.is_hung = False
        self.thread = Thread(target=self._run, name=application.group_id, daemon=True)
        self.thread.start()

    def check(self) -> None:
        """Raise ConsumerFailedError if it gave up."""
        if self._failure is not None:
            raise ConsumerFailedError(f"{self._application.group_id}: {self._failure}")

    def _run(self) -> None:
        try:
            with closing(open_client(self._application, self._servers, self._prefix)) as client:
                while not self.leaving.is_set():
                    self._work(client)
        except (KafkaError, KafkaException) as failure:
            self._failure = failure

    def _work(self, client: LibrdkafkaClient | KafkaPythonClient) -> None:
        if self.is_hung:
            self.leaving.wait(_POLL_S)
            return
        if self.is_paused:
            client.pause()
        at_most = self._application.records_a_poll
        self.record_count += client.read(at_most)
        if at_most < _UNLIMITED:
            self.leaving.wait(_POLL_S)


class ShopConsumers:
    """Running consumers by group; the prefix is that of the demo's groups and topics."""

    def __init__(self, servers: str, prefix: str = "") -> None:
        self._servers = servers
        self._prefix = prefix
        self._running: defaultdict[str, list[RunningConsumer]] = defaultdict(list)

    @property
    def have_all_read(self) -> bool:
        return all(consumer.record_count for consumer in self._all())

    @property
    def count(self) -> int:
        return len(self._all())

    def join(self, application: Application) -> None:
        here = application._replace(
            group_id=self._prefix + application.group_id,
            topics=tuple(self._prefix + topic for topic in application.topics),
        )
        self._running[application.group_id] += [
            RunningConsumer(here, self._servers, self._prefix) for _ in range(here.member_count)
        ]

    def leave(self, application: Application) -> None:
        _dismiss(self._running.pop(application.group_id, []))

    def pause(self, application: Application) -> None:
        """Let its consumers stay in their group, poll, and take no records."""
        for consumer in self._running[application.group_id]:
            consumer.is_paused = True

    def hang(self, application: Application) -> None:
        """Let its consumers stop polling; their library sends heartbeats."""
        for consumer in self._running[application.group_id]:
            consumer.is_hung = True

    def check(self) -> None:
        for consumer in self._all():
            consumer.check()

    def close(self) -> None:
        _dismiss(self._all())
        self._running.clear()

    def _all(self) -> list[RunningConsumer]:
        return [consumer for consumers in self._running.values() for consumer in consumers]


def _dismiss(consumers: list[RunningConsumer]) -> None:
    for consumer in consumers:
        consumer.leaving.set()
    for consumer in consumers:
        consumer.thread.join()
