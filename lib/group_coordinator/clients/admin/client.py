"""Administrator's client for programs without an event loop."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Self, TypeVar

from group_coordinator.clients.admin.group_operations import GroupOperations
from group_coordinator.clients.admin.offset_operations import OffsetOperations
from group_coordinator.clients.admin.operation import BlockingClient

Outcome = TypeVar("Outcome")


class AdminClient(GroupOperations, OffsetOperations, BlockingClient):
    """Sends requests to the running job over Kafka; lists of groups come from the Delta tables.

    Arguments without a value have the values of conf/coordinator.toml. Methods of confluent-kafka have the same names
    here; results are plain values, no futures. AsyncAdminClient has the same methods for asyncio.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def _until(self, reply: Future[Outcome]) -> Outcome:
        return reply.result()

    async def _by_sender(self, work: Callable[[], Outcome]) -> Outcome:
        return work()

    async def _aside(self, work: Callable[[], Outcome]) -> Outcome:
        return work()
