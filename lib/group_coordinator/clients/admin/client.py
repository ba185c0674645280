"""Administrator's clients: for programs with an event loop and for programs without."""

from __future__ import annotations

from typing import Self

from group_coordinator.clients.admin.group_operations import GroupOperations
from group_coordinator.clients.admin.offset_operations import OffsetOperations
from group_coordinator.clients.admin.operation import AsyncioClient, BlockingClient


class AdminClient(BlockingClient, GroupOperations, OffsetOperations):
    """Sends requests to the running job over Kafka; lists of groups come from the Delta tables.

    Arguments without a value have the values of conf/coordinator.toml. Methods of confluent-kafka have the same names
    here; results are plain values, no futures. AsyncAdminClient has the same methods for asyncio.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncAdminClient(AsyncioClient, GroupOperations, OffsetOperations):
    """AdminClient's methods as coroutines: await the calls of its examples.

    Any number of responses can be pending without a thread: a single thread of the client sends, as sending waits while
    Kafka is unreachable. Only tables, and the ends of topics for a reset, are read in a thread for each call.
    """

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _close_channel(self) -> None:
        super()._close_channel()
        self._end_sender()
