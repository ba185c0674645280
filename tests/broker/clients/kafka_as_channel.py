"""A channel whose other end is the group coordinator inside a real Kafka broker: no topics between them, and no waiting."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from threading import local
from typing import Any, Self

from kafka import KafkaAdminClient

from group_coordinator.clients.channel.request import Body, Request
from tests.broker.clients.kafka_as_coordinator import kafka_answer

_CLIENT_ID = "side-by-side"


class KafkaAsChannel:
    """Asks at once; connections are kept, one a thread and client id, as some requests are parked for long."""

    def __init__(self, bootstrap_servers: str) -> None:
        self._bootstrap_servers = bootstrap_servers
        self._workers = ThreadPoolExecutor(max_workers=12)
        self._of_thread = local()
        self._clients: list[KafkaAdminClient] = []
        self.asked: list[Request] = []

    def send(self, request: Request, *, timeout_ms: int | None = None) -> Future[Body]:
        """As RequestChannel."""
        assert timeout_ms is None or timeout_ms > 0
        self.asked.append(request)
        return self._workers.submit(self._ask, request)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._workers.shutdown()
        for client in self._clients:
            client.close()

    def _ask(self, request: Request) -> dict[str, Any]:
        client = self._client(request.client_id or _CLIENT_ID)
        return kafka_answer(client, request.api, request.version, request.body)

    def _client(self, client_id: str) -> KafkaAdminClient:
        known: dict[str, KafkaAdminClient] = self._of_thread.__dict__
        if client_id not in known:
            known[client_id] = KafkaAdminClient(
                bootstrap_servers=self._bootstrap_servers, client_id=client_id
            )
            self._clients.append(known[client_id])
        return known[client_id]
