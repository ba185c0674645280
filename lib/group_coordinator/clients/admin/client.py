"""Administrator's clients: for programs with an event loop and for programs without."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from typing import Self, TypeVar

from group_coordinator.clients.admin.group_operations import GroupOperations
from group_coordinator.clients.admin.offset_operations import OffsetOperations
from group_coordinator.clients.admin.operation import AsyncioClient, BlockingClient

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


class AsyncAdminClient(GroupOperations, OffsetOperations, AsyncioClient):
    """AdminClient's methods as coroutines: await the calls of its examples.

    Any number of responses can be pending without a thread: a single thread of the client sends, as sending waits while
    Kafka is unreachable. Only tables, and the ends of topics for a reset, are read in a thread for each call.
    """

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _until(self, reply: Future[Outcome]) -> Outcome:
        # The channel's thread completes its futures, which asyncio cannot await.
        return await asyncio.wrap_future(reply)

    async def _by_sender(self, work: Callable[[], Outcome]) -> Outcome:
        return await asyncio.get_running_loop().run_in_executor(self._sender, work)

    async def _aside(self, work: Callable[[], Outcome]) -> Outcome:
        return await asyncio.to_thread(work)

    def _close_channel(self) -> None:
        super()._close_channel()
        # The caller is the executor's own thread, which ends after this task.
        self.__dict__.pop("_sender").shutdown(wait=False)

    @cached_property
    def _sender(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(max_workers=1, thread_name_prefix="admin-sender")
