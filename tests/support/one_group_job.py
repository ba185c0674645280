"""The state machine of one group in this process, behind the two topics: it answers as the job would, and leaves its tables."""

from __future__ import annotations

from contextlib import closing
from threading import Event, Thread
from typing import Any, Self

from kafka import KafkaConsumer, KafkaProducer
from msgspec import json

from group_coordinator.codecs import events
from group_coordinator.codecs.events import to_json
from group_coordinator.core.model.classic_member import ReplyAddress
from group_coordinator.core.model.responses import Reply
from tests.support.group_history import GroupHistory


class OneGroupJob:
    """Takes the events of both topics while its block lasts; `history` has what became of them."""

    def __init__(
        self, bootstrap_servers: str, events_topic: str, responses_topic: str, group_id: str
    ) -> None:
        self.history = GroupHistory(group_id)
        self._servers = bootstrap_servers
        self._events_topic = events_topic
        self._responses_topic = responses_topic
        self._stopping = Event()
        self._thread = Thread(target=self._work)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join()

    def _work(self) -> None:
        with (
            closing(KafkaProducer(bootstrap_servers=self._servers)) as producer,
            closing(
                KafkaConsumer(
                    self._events_topic,
                    bootstrap_servers=self._servers,
                    enable_auto_commit=False,
                    auto_offset_reset="earliest",
                )
            ) as consumer,
        ):
            while not self._stopping.is_set():
                for records in consumer.poll(timeout_ms=50).values():
                    for record in records:
                        self._answer(record, producer)

    def _answer(self, record: Any, producer: KafkaProducer) -> None:
        event = events.decode(record.value)
        self.history.at(max(self.history.now_ms, record.timestamp))
        outcome = self.history.send(event.request, event.version)
        reply = Reply(ReplyAddress("", event.correlation_id, event.version), outcome.response)
        value = json.encode(to_json(self.history.group.group_id, reply, record.timestamp))
        producer.send(
            self._responses_topic, value=value, key=record.key, partition=event.reply_partition
        )
