from __future__ import annotations

import asyncio
import logging

import pytest

from group_coordinator.clients.channel import Body
from group_coordinator.gateway.groups.offset_apis import GroupQueues
from tests.unit.gateway.scripted_broker import PATIENCE_S
from tests.unit.gateway.stage import in_loop


async def told(code: int) -> Body:
    return {"errorCode": code}


async def nothing() -> None:
    """To look up."""


async def broken() -> None:
    raise ZeroDivisionError("planted")


def broken_hand_over() -> asyncio.Future[Body]:
    raise ZeroDivisionError("planted")


@pytest.mark.parametrize("fails", ["look up", "hand over"])
@in_loop
async def test_a_defect_of_one_request_holds_back_none_behind_it(fails: str) -> None:
    turns = GroupQueues()
    if fails == "look up":
        first = turns.take("billing", lambda: told(0), broken)
    else:
        first = turns.take("billing", broken_hand_over, nothing)
    second = turns.take("billing", lambda: told(27))

    async with asyncio.timeout(PATIENCE_S):
        with pytest.raises(ZeroDivisionError, match="planted"):
            await first
        assert await second == {"errorCode": 27}
        assert await turns.take("billing", lambda: told(25)) == {"errorCode": 25}


@in_loop
async def test_a_defect_of_a_request_whose_client_is_gone_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    turns = GroupQueues()
    is_gone = asyncio.Event()

    async def broken_later() -> None:
        await is_gone.wait()
        await broken()

    first = asyncio.ensure_future(turns.take("billing", lambda: told(0), broken_later))
    second = turns.take("billing", lambda: told(27))
    await asyncio.sleep(0)
    first.cancel()
    is_gone.set()

    async with asyncio.timeout(PATIENCE_S):
        assert await second == {"errorCode": 27}
    [line] = [one for one in caplog.records if one.levelno >= logging.ERROR]
    assert line.getMessage() == "Internal error in a request of a client that is disconnected"
    assert "ZeroDivisionError: planted" in caplog.text
