"""What is the asyncio client's own; its methods are tested with those of the other one."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from group_coordinator.clients import AsyncAdminClient
from group_coordinator.clients.admin.operation import AsyncioClient, BlockingClient, ClientMethod
from group_coordinator.clients.errors import BrokerUnreachableError, RequestTimedOutError
from tests.support.until import until
from tests.unit.clients.coordinator_in_process import CoordinatorInProcess


async def all_sent(coordinator: CoordinatorInProcess, count: int) -> None:
    while len(coordinator.events) < count:  # noqa: ASYNC110 - another thread sends
        await asyncio.sleep(0.001)


def test_many_wait_at_once_with_one_thread(stage: CoordinatorInProcess) -> None:
    stage.is_silent = True
    before, sent = threading.active_count(), len(stage.events)

    async def wait_for_all() -> list[Any]:
        async with AsyncAdminClient(channel=stage) as admin:
            questions = [
                asyncio.create_task(admin.list_consumer_group_offsets(f"group-{number}"))
                for number in range(100)
            ]
            await all_sent(stage, sent + 100)
            assert threading.active_count() == before + 1
            stage.lose_all()
            return await asyncio.gather(*questions, return_exceptions=True)

    answers = asyncio.run(wait_for_all())

    assert {type(answer) for answer in answers} == {RequestTimedOutError}
    until(lambda: threading.active_count() == before, seconds=10, awaited="the end of its thread")


def test_who_waits_may_stop_waiting(stage: CoordinatorInProcess) -> None:
    stage.is_silent = True
    sent = len(stage.events)

    async def give_up() -> None:
        async with AsyncAdminClient(channel=stage) as admin:
            question = asyncio.create_task(admin.list_consumer_group_offsets("billing"))
            await all_sent(stage, sent + 1)
            question.cancel()
            with pytest.raises(asyncio.CancelledError):
                await question

    asyncio.run(give_up())


def test_the_loop_goes_on_while_the_cluster_is_looked_for() -> None:
    async def ask() -> None:
        admin = AsyncAdminClient(bootstrap_servers="127.0.0.1:1")
        with pytest.raises(BrokerUnreachableError):
            await admin.list_consumer_group_offsets("billing")
        await admin.close()
        await admin.close()

    asyncio.run(ask())


class Shop:
    price = 3

    @ClientMethod
    async def cost(self, pieces: int) -> int:
        """What so many pieces cost."""
        if pieces < 0:
            raise ValueError(pieces)
        return pieces * self.price

    @ClientMethod
    async def nap(self) -> None:
        """Give way."""
        await asyncio.sleep(0)


class Counter(Shop, BlockingClient):
    pass


class WebShop(Shop, AsyncioClient):
    pass


def test_a_blocking_client_has_the_answer() -> None:
    assert Counter().cost(2) == 6
    assert Counter().cost(pieces=3) == 9


def test_an_asyncio_client_awaits_it() -> None:
    assert asyncio.run(WebShop().cost(2)) == 6


def test_an_error_is_the_callers() -> None:
    with pytest.raises(ValueError, match="-1"):
        Counter().cost(-1)


def test_what_would_need_an_event_loop_is_a_defect() -> None:
    asyncio.run(WebShop().nap())
    with pytest.raises(AssertionError, match=r"Shop\.nap gave way"):
        Counter().nap()


def test_the_documentation_is_the_coroutines() -> None:
    assert Counter.cost.__doc__ == WebShop.cost.__doc__ == "What so many pieces cost."
