"""Groups of ordinary consumers that commit what they read, and a producer: who read what, and what was confirmed."""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from itertools import cycle
from threading import Event, Lock, Thread
from typing import Protocol

import confluent_kafka
from kafka import KafkaConsumer
from kafka.errors import KafkaError, RetriableError

TOPIC, PARTITIONS = "deliveries", 4
_POLL_S = 0.2
_PAUSE_S = 0.1
_log = logging.getLogger(__name__)
_log.addHandler(logging.NullHandler())
"""Every lost connection is told; here they are cut on purpose."""

Positions = Mapping[int, int]
"""By partition: the offset of the next record."""


class Group:
    """What all members of one group have read and committed."""

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.read: defaultdict[int, set[int]] = defaultdict(set)
        self.below_commits: list[str] = []
        """Records that were read again although a commit above them was confirmed."""
        self.repeat_count = 0
        self.commit_count = 0
        self.failed_commits: list[str] = []
        self.failed_poll_count = 0
        self._confirmed: dict[int, int] = {}
        self._lock = Lock()

    def has_read(self, partition: int, offset: int) -> None:
        """A member got a record."""
        with self._lock:
            if offset < self._confirmed.get(partition, 0):
                self.below_commits.append(f"{self.group_id}: {partition} at {offset}")
            self.repeat_count += offset in self.read[partition]
            self.read[partition].add(offset)

    def has_committed(self, positions: Positions) -> None:
        """A commit was confirmed."""
        with self._lock:
            self.commit_count += 1
            self._confirmed.update(positions)

    def has_failed(self, error: object) -> None:
        """A commit was not."""
        self.failed_commits.append(str(error))

    def has_failed_to_poll(self) -> None:
        """A client wants to be asked again."""
        self.failed_poll_count += 1

    def count(self) -> int:
        """Different records so far."""
        return sum(map(len, list(self.read.values())))


class _Member(Protocol):
    def take(self) -> list[tuple[int, int]]:
        """Partitions and offsets of the next records."""

    def commit(self) -> Positions | None:
        """Commit what was taken; None: it was not confirmed."""

    def close(self) -> None:
        """Leave."""


class _Librdkafka:
    def __init__(self, servers: str, group: Group, protocol: str) -> None:
        self._group = group
        options = {
            "bootstrap.servers": servers,
            "group.id": group.group_id,
            "group.protocol": protocol,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
        self._consumer = confluent_kafka.Consumer(options, logger=_log)
        self._consumer.subscribe([TOPIC])

    def take(self) -> list[tuple[int, int]]:
        messages = self._consumer.consume(500, _POLL_S)
        return [(m.partition() or 0, m.offset() or 0) for m in messages if m.error() is None]

    def commit(self) -> Positions | None:
        try:
            done = self._consumer.commit(asynchronous=False) or []
        except confluent_kafka.KafkaException as error:
            self._group.has_failed(error)
            return None
        return {each.partition: each.offset for each in done if each.error is None}

    def close(self) -> None:
        self._consumer.close()


class _KafkaPython:
    def __init__(self, servers: str, group: Group) -> None:
        self._group = group
        self._consumer = KafkaConsumer(
            TOPIC,
            bootstrap_servers=servers,
            group_id=group.group_id,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
        )

    def take(self) -> list[tuple[int, int]]:
        try:
            polled = self._consumer.poll(timeout_ms=round(_POLL_S * 1000))
        except RetriableError:
            # It looks for its coordinator and finds no broker at all; other clients go on looking by themselves.
            self._group.has_failed_to_poll()
            time.sleep(_POLL_S)
            return []
        return [
            (record.partition, record.offset) for records in polled.values() for record in records
        ]

    def commit(self) -> Positions | None:
        try:
            positions = {
                p.partition: self._consumer.position(p) for p in self._consumer.assignment()
            }
            self._consumer.commit()
        except KafkaError as error:
            self._group.has_failed(error)
            return None
        return positions

    def close(self) -> None:
        self._consumer.close()


class Traffic:
    """One producer, and members of three groups, each in a thread; where there are several gateways they come by them in turn."""

    def __init__(self, *servers: str) -> None:
        self.groups = [Group("librdkafka"), Group("librdkafka-kip848"), Group("kafka-python")]
        self.confirmed: defaultdict[int, set[int]] = defaultdict(set)
        self.unconfirmed: list[str] = []
        self.failures: list[BaseException] = []
        self._servers = servers[0]
        self._done, self._produced = Event(), Event()
        classic, kip848, python = self.groups
        members = (
            *((classic, "classic") for _ in range(2)),
            *((kip848, "consumer") for _ in range(2)),
            (python, None),
        )
        self._threads = [
            Thread(target=self._consume, args=(gateway, *each))
            for gateway, each in zip(cycle(servers), members, strict=False)
        ]
        self._threads.append(Thread(target=self._produce))

    @contextmanager
    def flowing(self) -> Iterator[None]:
        """Until the block ends; then everybody reads what is left."""
        for thread in self._threads:
            thread.start()
        try:
            yield
        finally:
            self._done.set()
            for thread in self._threads:
                thread.join()

    def confirmed_count(self) -> int:
        """Records that the broker has."""
        return sum(map(len, list(self.confirmed.values())))

    def _produce(self) -> None:
        producer = confluent_kafka.Producer(
            {"bootstrap.servers": self._servers, "enable.idempotence": True, "linger.ms": 5},
            logger=_log,
        )
        number = 0
        while not self._done.is_set():
            for _ in range(10):
                producer.produce(
                    TOPIC, str(number), partition=number % PARTITIONS, on_delivery=self._delivered
                )
                number += 1
            producer.poll(0)
            time.sleep(_PAUSE_S)
        producer.flush(60)
        self._produced.set()

    def _delivered(
        self, error: confluent_kafka.KafkaError | None, message: confluent_kafka.Message
    ) -> None:
        if error is None:
            self.confirmed[message.partition() or 0].add(message.offset() or 0)
        else:
            self.unconfirmed.append(str(error))

    def _consume(self, servers: str, group: Group, protocol: str | None) -> None:
        try:
            with closing(_member(servers, group, protocol)) as member:
                self._read(group, member)
        except (KafkaError, confluent_kafka.KafkaException) as failure:
            self.failures.append(failure)

    def _read(self, group: Group, member: _Member) -> None:
        give_up_s = None
        while give_up_s is None or time.monotonic() < give_up_s:
            taken = member.take()
            for partition, offset in taken:
                group.has_read(partition, offset)
            if taken:
                confirmed = member.commit()
                if confirmed is not None:
                    group.has_committed(confirmed)
            if self._produced.is_set():
                give_up_s = give_up_s or time.monotonic() + 60
                if group.count() >= self.confirmed_count():
                    return


def _member(servers: str, group: Group, protocol: str | None) -> _Member:
    if protocol is None:
        return _KafkaPython(servers, group)
    return _Librdkafka(servers, group, protocol)
