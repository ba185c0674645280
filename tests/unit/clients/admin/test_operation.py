from __future__ import annotations

import asyncio

import pytest

from group_coordinator.clients.admin.operation import AsyncioClient, BlockingClient, ClientMethod


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
