"""Real clients of a broker that is mirrored: each a group of its own, and none of them knows of the mirror."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, Final

from confluent_kafka import Consumer, Producer
from confluent_kafka import TopicPartition as LibrdkafkaPartition
from kafka import KafkaAdminClient, KafkaConsumer, OffsetAndMetadata, TopicPartition
from kafka.admin import NewTopic

from tests.broker.clients.java_clients import (
    COUNTED_WORDS,
    WORDS,
    console_consumer,
    console_share_consumer,
    repartitioned,
    word_count,
)
from tests.support.until import until

ORDERS, REFUNDS = "like-orders", "like-refunds"
RECORDS: Final = 10
"""In each partition, of two words each."""
ALL_READ: Final[dict[tuple[str, int], int]] = dict.fromkeys(
    [(ORDERS, 0), (ORDERS, 1), (ORDERS, 2), (REFUNDS, 0)], RECORDS
)
STREAMS: Final = "words"
SUBTOPOLOGIES: Final = {WORDS: "0", repartitioned(STREAMS): "1"}
_READ_BY_STREAMS: Final = {WORDS: 2 * RECORDS, repartitioned(STREAMS): 4 * RECORDS}
_MODERN: Final = {"group.protocol": "consumer"}
_TIMEOUT_S: Final = 60.0


class Clients:
    """Groups of a broker, made and ended by an administrator's means and by clients that live as long as `running`."""

    def __init__(self, servers: str, admin: KafkaAdminClient) -> None:
        self._servers = servers
        self._admin = admin

    def fill_topics(self) -> None:
        topics = {ORDERS: 3, REFUNDS: 1, WORDS: 2, COUNTED_WORDS: 1}
        self._admin.create_topics([NewTopic(name, count, 1) for name, count in topics.items()])
        producer = Producer({"bootstrap.servers": self._servers})
        for topic, partitions in topics.items():
            for number in range(RECORDS * partitions if topic != COUNTED_WORDS else 0):
                producer.produce(topic, f"number {number}", partition=number % partitions)
        assert producer.flush(30) == 0

    # ---- groups without members -------------------------------------------------------------

    def commit(self, group: str, offset: int) -> None:
        """As one that only stores offsets."""
        with closing(KafkaConsumer(bootstrap_servers=self._servers, group_id=group)) as consumer:
            place = TopicPartition(REFUNDS, 0)
            consumer.assign([place])
            consumer.commit({place: OffsetAndMetadata(offset, "", -1)})

    def commit_in_transactions(self, group: str) -> None:
        """One transaction is committed, the next one aborted."""
        consumer = Consumer({"bootstrap.servers": self._servers, "group.id": group})
        metadata = consumer.consumer_group_metadata()
        producer = Producer({"bootstrap.servers": self._servers, "transactional.id": group})
        producer.init_transactions(30)
        for offset, end in ((4, producer.commit_transaction), (5, producer.abort_transaction)):
            producer.begin_transaction()
            places = [LibrdkafkaPartition(ORDERS, 0, offset)]
            producer.send_offsets_to_transaction(places, metadata, 30)
            end(30)
        consumer.close()

    # ---- groups with members ----------------------------------------------------------------

    def start_java(self, running: ExitStack, folder: Path) -> None:
        """Of both protocols by a pattern, both static; of shares; and of streams."""
        pattern, servers = "like-.*", self._servers
        static = {"group_instance_id": "java-1", "client_id": "java-1"}
        for client in (
            word_count(servers, STREAMS, folder, threads=2),
            console_share_consumer(servers, "like-share", ORDERS),
            console_consumer(servers, "like-java", pattern, session_timeout_ms="6000", **static),
            console_consumer(
                servers, "like-java-modern", pattern, group_protocol="consumer", **static
            ),
        ):
            running.enter_context(client)

    def start_others(self, running: ExitStack) -> None:
        """Classic ones that are static, by name and by a pattern; and KIP-848 ones by a pattern of the broker's."""
        classic = [
            self._librdkafka(running, "like-classic", [ORDERS], **_static(f"static-{n}"))
            for n in (1, 2)
        ]
        modern = [
            self._librdkafka(running, "like-modern", ["^like-.*"], **_MODERN) for _ in range(2)
        ]
        python = KafkaConsumer(
            bootstrap_servers=self._servers,
            group_id="like-python",
            group_instance_id="python-1",
            client_id="python-1",
            session_timeout_ms=6_000,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
        )
        running.enter_context(closing(python))
        python.subscribe(pattern="^like-.*")
        _commit_all(classic, partitions=3)
        _commit_all(modern, partitions=4)
        until(lambda: _has_read_all(python), seconds=_TIMEOUT_S, awaited="kafka-python's records")
        python.commit()

    def _librdkafka(
        self, running: ExitStack, group: str, topics: list[str], **options: Any
    ) -> Consumer:
        known = {"bootstrap.servers": self._servers, "group.id": group, "enable.auto.commit": False}
        consumer = running.enter_context(closing(Consumer(known | options)))
        consumer.subscribe(topics)
        return consumer

    # ---- what the broker says ---------------------------------------------------------------

    def await_java(self) -> None:
        """Until they have read all that there is, and said so."""

        def have_read() -> bool:
            streams = dict.fromkeys(_READ_BY_STREAMS, 0)
            for (topic, _), offset in self.committed(STREAMS).items():
                streams[topic] += offset
            read = [self.committed(group) for group in ("like-java", "like-java-modern")]
            return read == [ALL_READ, ALL_READ] and streams == _READ_BY_STREAMS

        until(have_read, seconds=_TIMEOUT_S, awaited="the offsets of Java's clients")

    def await_empty(self, *groups: str) -> None:
        """Until the sessions of members that do not leave have lapsed."""

        def are_empty() -> bool:
            return {*groups} <= {group for group, _, state in self.states() if state == "Empty"}

        until(are_empty, seconds=_TIMEOUT_S, awaited=f"the end of the sessions of {groups}")

    def states(self) -> list[tuple[str, str, str]]:
        """Each group with its kind and its state."""
        names = ("group_id", "group_type", "group_state")
        return sorted(tuple(each[name] for name in names) for each in self._admin.list_groups())

    def committed(self, group: str) -> dict[tuple[str, int], int]:
        """Its offsets."""
        found = self._admin.list_group_offsets([group])[group]
        return {(place.topic, place.partition): said.offset for place, said in found.items()}


def _static(name: str) -> dict[str, Any]:
    """It does not leave when it ends: its session has to."""
    return {"group.instance.id": name, "client.id": name, "session.timeout.ms": 6_000}


def _commit_all(consumers: Sequence[Consumer], partitions: int) -> None:
    """Once the consumers have shared out so many partitions, all records of each are read."""

    def shared_out() -> bool:
        for consumer in consumers:
            consumer.poll(0.1)
        owned = [len(consumer.assignment()) for consumer in consumers]
        return all(owned) and sum(owned) == partitions

    until(shared_out, seconds=_TIMEOUT_S, awaited="assignments")
    for consumer in consumers:
        read = [
            LibrdkafkaPartition(each.topic, each.partition, RECORDS)
            for each in consumer.assignment()
        ]
        consumer.commit(offsets=read, asynchronous=False)


def _has_read_all(consumer: KafkaConsumer) -> bool:
    consumer.poll(timeout_ms=100)
    read = {
        (place.topic, place.partition): consumer.position(place) for place in consumer.assignment()
    }
    return read == ALL_READ
