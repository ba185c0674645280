"""Answers events as the job would, by asking the group coordinator inside a real Kafka broker."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread
from typing import Any, Self

from kafka import KafkaConsumer, KafkaProducer
from msgspec import json

from tests.conformance.kafka.raw_requests import ask


class KafkaAsCoordinator:
    """Every event becomes the same request to the broker, on a connection of its own: some are parked for long."""

    def __init__(self, bootstrap_servers: str, events_topic: str, responses_topic: str) -> None:
        self._bootstrap_servers = bootstrap_servers
        self._responses_topic = responses_topic
        self._stopping = Event()
        self._workers = ThreadPoolExecutor(max_workers=16)
        self._producer = KafkaProducer(bootstrap_servers=bootstrap_servers)
        self._consumer = KafkaConsumer(
            events_topic,
            bootstrap_servers=bootstrap_servers,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
        )
        self._reader = Thread(target=self._read)

    def __enter__(self) -> Self:
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._reader.join()
        self._workers.shutdown()
        self._producer.close()

    def _read(self) -> None:
        while not self._stopping.is_set():
            for records in self._consumer.poll(timeout_ms=100).values():
                for record in records:
                    self._workers.submit(self._answer, record)
        self._consumer.close()

    def _answer(self, record: Any) -> None:
        event = json.decode(record.value)
        response = {
            "id": f"{record.topic}-{record.partition}-{record.offset}",
            "correlationId": event["correlationId"],
            "api": event["api"],
            "version": event["version"],
            "groupId": record.key.decode(),
            "at": record.timestamp,
            "body": self._ask(event),
        }
        self._producer.send(
            self._responses_topic,
            key=record.key,
            value=json.encode(response),
            partition=event["replyPartition"],
        )

    def _ask(self, event: dict[str, Any]) -> dict[str, Any]:
        return kafka_answer(
            self._bootstrap_servers,
            event["clientId"],
            event["api"],
            event["version"],
            event["body"],
        )


def kafka_answer(
    bootstrap_servers: str, client_id: str, api: str, version: int, body: Mapping[str, Any]
) -> dict[str, Any]:
    """What the broker's own coordinator answers; a field of ours is not in the request's bytes."""
    host, _, port = bootstrap_servers.rpartition(":")
    return ask((host, int(port)), api, version, dict(body), client_id)
