"""A consumer of librdkafka, for stories."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

_POLLS_AT_ONCE: Final = 10
_DEFAULTS: Final = {
    "group.protocol": "consumer",
    "enable.auto.commit": False,
    "auto.offset.reset": "earliest",
    "reconnect.backoff.ms": 20,
    "topic.metadata.refresh.interval.ms": 1_000,
    "log_level": 0,
}


class RealConsumer:
    """Polls when it is told to; its errors are kept.

    Args:
        servers: where the proxy listens.
        group: whose member it is.
        name: its client id.
        config: librdkafka's own settings, a dot an underscore.
    """

    def __init__(self, servers: str, group: str, name: str, **config: Any) -> None:
        chosen = {key.replace("_", "."): value for key, value in config.items()}
        known = {"bootstrap.servers": servers, "group.id": group, "client.id": name}
        self.name = name
        self.errors: list[KafkaError] = []
        self.is_open = True
        self.commits_when_revoked = False
        self.commits: list[int] = []
        """The errors of what was committed without waiting, 0 where there is none."""
        self._consumer = Consumer(_DEFAULTS | known | chosen | {"on_commit": self._committed})

    def subscribe(self, *topics: str) -> None:
        """Subscribe to these topics and no others; "^..." is a regular expression."""
        self._consumer.subscribe(list(topics), on_revoke=self._revoke)

    def poll(self) -> None:
        """Do what there is to do."""
        for _ in range(_POLLS_AT_ONCE):
            message = self._consumer.poll(0)
            if message is None:
                return
            error = message.error()
            if error is not None:
                self.errors.append(error)

    @property
    def partitions(self) -> list[str]:
        """What it consumes: "orders-0"."""
        return sorted(f"{one.topic}-{one.partition}" for one in self._consumer.assignment())

    def commit(self, *offsets: str) -> int:
        """Commit "orders-0=7" and say which error came of it."""
        try:
            self._consumer.commit(offsets=_parsed(offsets), asynchronous=False)
        except KafkaException as refusal:
            return int(refusal.args[0].code())
        return 0

    def begin_to_commit(self, *offsets: str) -> None:
        """Commit and do not wait; `commits` will say what came of it."""
        self._consumer.commit(offsets=_parsed(offsets), asynchronous=True)

    def committed(self, *partitions: str) -> list[str]:
        """Ask for committed offsets."""
        found = self._consumer.committed(_parsed(partitions), timeout=10)
        return [f"{one.topic}-{one.partition}={one.offset}" for one in found]

    def close(self) -> None:
        """Leave the group as librdkafka does."""
        if self.is_open:
            self.is_open = False
            self._consumer.close()

    def _committed(self, error: KafkaError | None, _: list[TopicPartition]) -> None:
        self.commits.append(error.code() if error else 0)

    def _revoke(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        if self.commits_when_revoked:
            for one in partitions:
                one.offset = 7
            consumer.commit(offsets=partitions, asynchronous=False)


def all_consumed(count: int, *consumers: RealConsumer) -> bool:
    """Whether these consume so many partitions, none of them twice."""
    found = [partition for one in consumers for partition in one.partitions]
    return len(found) == len(set(found)) == count


def _parsed(specs: Iterable[str]) -> list[TopicPartition]:
    found = []
    for spec in specs:
        partition, _, offset = spec.partition("=")
        topic, _, index = partition.rpartition("-")
        found.append(TopicPartition(topic, int(index), int(offset or -1001)))
    return found
