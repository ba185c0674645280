"""A channel whose other end is the group coordinator inside a real Kafka broker: no topics between them, and no waiting."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Self

from group_coordinator.clients.channel import Body, Request
from tests.broker.clients.kafka_as_coordinator import kafka_answer

_CLIENT_ID = "side-by-side"


class KafkaAsChannel:
    """Asks at once; every request has a thread and a connection of its own, as some are parked for long."""

    def __init__(self, bootstrap_servers: str) -> None:
        self._bootstrap_servers = bootstrap_servers
        self._workers = ThreadPoolExecutor(max_workers=12)
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

    def _ask(self, request: Request) -> dict[str, Any]:
        client_id = request.client_id or _CLIENT_ID
        return kafka_answer(
            self._bootstrap_servers, client_id, request.api, request.version, request.body
        )
