"""The real job between a real broker and real tables, under hostile events."""

from __future__ import annotations

import json
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.serializer import Serializer

from group_coordinator.clients.sql_tables import query
from tests.benchmarks.latency import Memory
from tests.hostile.events import commit
from tests.hostile.sent import Fate, Sent, encoded
from tests.hostile.verdict import Coordinates, Expected, Letter, expected
from tests.support.job_process import JobProcess

EVENTS, RESPONSES = "group-events", "group-responses"
PARTITIONS = 4
_DEADLINE_S = 1_800
_MOST_BYTES_AT_ONCE = 2**22


class _ValueOf(Serializer):
    def serialize(self, topic: str, headers: object, data: Sent) -> bytes | None:  # noqa: ARG002
        return data.value


class Writer:
    """Sends events and notes where Kafka put each of them."""

    def __init__(self, bootstrap_servers: str, kept_bytes: int) -> None:
        self.events: dict[Coordinates, Expected] = {}
        self._kept_bytes = kept_bytes
        self._producer = KafkaProducer(
            bootstrap_servers=bootstrap_servers,
            linger_ms=20,
            max_request_size=_MOST_BYTES_AT_ONCE,
            # The broker limits what is sent, and it is sent compressed.
            compression_type="gzip",
            # The client refuses to send nothing for nobody; others do not.
            value_serializer=_ValueOf(),
        )

    def send(self, events: Iterable[Sent]) -> None:
        for number, sent in enumerate(events):
            partition = (number if sent.key is None else zlib.crc32(sent.key)) % PARTITIONS
            future = self._producer.send(EVENTS, key=sent.key, value=sent, partition=partition)
            future.add_callback(self._noted, expected(sent, self._kept_bytes))
        self._producer.flush()

    def _noted(self, event: Expected, metadata: Any) -> None:
        self.events[metadata.partition, metadata.offset] = event

    def send_last(self) -> set[str]:
        """A commit to each partition; when they are answered, everything before them has been taken."""
        for partition in range(PARTITIONS):
            group = f"last-{partition}"
            last = Sent("last", group.encode(), encoded(commit(group, 1, group)), Fate.ANSWERED)
            self._producer.send(EVENTS, key=last.key, value=last, partition=partition)
        self._producer.flush()
        return {f"last-{partition}" for partition in range(PARTITIONS)}

    def close(self) -> None:
        self._producer.close()


class Responses:
    """What the job has answered so far: bodies by the coordinates of the requests."""

    def __init__(self, bootstrap_servers: str) -> None:
        self.bodies: dict[Coordinates, list[Any]] = defaultdict(list)
        self.correlation_ids: set[str] = set()
        self._ids: set[str] = set()
        self._consumer = KafkaConsumer(
            bootstrap_servers=bootstrap_servers, enable_auto_commit=False
        )
        partitions = self._consumer.partitions_for_topic(RESPONSES)
        self._consumer.assign([TopicPartition(RESPONSES, p) for p in partitions])
        self._consumer.seek_to_beginning()

    def await_all(self, wanted: set[str], job: JobProcess) -> None:
        """Read until these correlation ids are answered, and then to the end of the topic."""

        def are_read() -> bool:
            if wanted <= self.correlation_ids and not self._is_behind():
                return True
            self._read()
            return False

        job.until(are_read, seconds=_DEADLINE_S, awaited="answers", poll_s=0)

    def read_rest(self) -> None:
        """Read to the end, when the job has ended: others may have been answered later than the last ones."""
        while self._is_behind():
            self._read()

    def _read(self) -> None:
        for records in self._consumer.poll(timeout_ms=500).values():
            for record in records:
                self._take(json.loads(record.value))

    def _is_behind(self) -> bool:
        ends = self._consumer.end_offsets(list(self._consumer.assignment()))
        return any(self._consumer.position(partition) < end for partition, end in ends.items())

    def _take(self, response: dict[str, Any]) -> None:
        """Responses are sent at least once: repeats have the same id."""
        if response["id"] in self._ids:
            return
        self._ids.add(response["id"])
        self.correlation_ids.add(response["correlationId"])
        *_, partition, offset = response["id"].split("-")
        self.bodies[int(partition), int(offset)].append(response["body"])

    def close(self) -> None:
        self._consumer.close()


def letters(tables_root: Path) -> list[Letter]:
    """The table of dead letters."""
    sql = "SELECT source_partition, source_offset, reason, value FROM dead_letters"
    rows = query(str(tables_root), sql).to_pylist()
    return [
        Letter((row["source_partition"], row["source_offset"]), row["reason"], row["value"])
        for row in rows
    ]


def measured(work: Callable[[], None], memory: Memory) -> tuple[float, int]:
    """Seconds that some work takes, and the most memory so far."""
    start_s = time.monotonic()
    work()
    return time.monotonic() - start_s, memory.highest_bytes
