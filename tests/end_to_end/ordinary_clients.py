"""Unmodified clients at a gateway: a consumer of librdkafka in each protocol, and one of kafka-python."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import confluent_kafka
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import NewTopic

from tests.support.until import until

TOPIC, PARTITIONS, RECORDS = "deliveries", 2, 20
LIBRDKAFKA, LIBRDKAFKA_KIP848, KAFKA_PYTHON = "librdkafka", "librdkafka-kip848", "kafka-python"
_DEADLINE_S = 60.0


@contextmanager
def who_read_and_committed(servers: str) -> Iterator[dict[str, list[int]]]:
    """Three groups, each of whose consumers has read all records and is a member still; what each read.

    Each starts at the first record, commits what it has read, and waits for the answer.
    """
    with closing(KafkaAdminClient(bootstrap_servers=servers)) as admin:
        admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)], wait_for_metadata=True)
    with closing(KafkaProducer(bootstrap_servers=servers)) as producer:
        for number in range(RECORDS):
            producer.send(TOPIC, str(number).encode(), partition=number % PARTITIONS)
    readers = [
        _Librdkafka(servers, LIBRDKAFKA, "classic"),
        _Librdkafka(servers, LIBRDKAFKA_KIP848, "consumer"),
        _KafkaPython(servers),
    ]
    with ThreadPoolExecutor(len(readers)) as threads:
        read = threads.map(lambda reader: reader.read_all(), readers)
        try:
            yield {
                reader.group_id: sorted(found) for reader, found in zip(readers, read, strict=True)
            }
        finally:
            list(threads.map(lambda reader: reader.close(), readers))


class _Librdkafka:
    def __init__(self, servers: str, group_id: str, protocol: str) -> None:
        self.group_id = group_id
        self._consumer = confluent_kafka.Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": group_id,
                "group.protocol": protocol,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
            }
        )
        self._consumer.subscribe([TOPIC])

    def read_all(self) -> list[int]:
        found = _all_of(self._more)
        self._consumer.commit(asynchronous=False)
        return found

    def _more(self) -> list[int]:
        return [
            int(m.value() or b"") for m in self._consumer.consume(RECORDS, 0.5) if not m.error()
        ]

    def close(self) -> None:
        self._consumer.close()


class _KafkaPython:
    group_id = KAFKA_PYTHON

    def __init__(self, servers: str) -> None:
        self._consumer = KafkaConsumer(
            TOPIC,
            bootstrap_servers=servers,
            group_id=self.group_id,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
        )

    def read_all(self) -> list[int]:
        found = _all_of(self._more)
        self._consumer.commit()
        return found

    def _more(self) -> list[int]:
        polled = self._consumer.poll(timeout_ms=500).values()
        return [int(record.value) for records in polled for record in records]

    def close(self) -> None:
        self._consumer.close()


def _all_of(more: Callable[[], list[int]]) -> list[int]:
    found: list[int] = []

    def are_all_there() -> bool:
        found.extend(more())
        return len(found) >= RECORDS

    until(are_all_there, seconds=_DEADLINE_S, awaited=lambda: f"all records, not {found}")
    return found
