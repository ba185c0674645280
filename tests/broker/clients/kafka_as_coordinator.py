"""Answers events as the job would, by asking the group coordinator inside a real Kafka broker."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any, Self
from uuid import UUID

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.protocol import admin as admin_protocol
from kafka.protocol import consumer as consumer_protocol
from msgspec import json

from tests.support import kip848_messages

BYTES = frozenset({"metadata", "assignment", "member_metadata", "member_assignment"})
OURS = frozenset({"isReset"})
PROTOCOLS = (consumer_protocol, admin_protocol, kip848_messages)


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
        client = KafkaAdminClient(
            bootstrap_servers=self._bootstrap_servers, client_id=event["clientId"]
        )
        with closing(client):
            return kafka_answer(client, event["api"], event["version"], event["body"])


def kafka_answer(
    client: KafkaAdminClient, api: str, version: int, body: Mapping[str, Any]
) -> dict[str, Any]:
    """What the broker's own coordinator answers; it is not told what it does not know."""
    name = f"{api}Request"
    [request_type] = [getattr(one, name) for one in PROTOCOLS if hasattr(one, name)]
    fields = vars(_from_json({key: value for key, value in body.items() if key not in OURS}))
    request = request_type[version](**fields)

    async def ask() -> Any:
        return await client._manager.send(request, node_id=1)  # noqa: SLF001 - asks for any API

    answer: dict[str, Any] = _to_json(client._manager.run(ask).to_dict(json=False))  # noqa: SLF001
    return answer


def _from_json(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return SimpleNamespace(
            **{_snake(key): _from_json(one, _snake(key)) for key, one in value.items()}
        )
    if isinstance(value, list):
        return [_from_json(one) for one in value]
    if name == "topic_id":
        return UUID(bytes=urlsafe_b64decode(f"{value}=="))
    return b64decode(value) if name in BYTES else value


def _to_json(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {_camel(key): _to_json(one, key) for key, one in value.items()}
    if name == "authorized_operations" and not isinstance(value, int):
        # kafka-python has read the bits already; None: nobody asked for them.
        return -(2**31) if value is None else sum(1 << operation for operation in value)
    if isinstance(value, list):
        return [_to_json(one) for one in value]
    if isinstance(value, UUID):
        return urlsafe_b64encode(value.bytes).decode().rstrip("=")
    return b64encode(value).decode() if isinstance(value, bytes) else value


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
