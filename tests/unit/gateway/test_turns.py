from __future__ import annotations

import asyncio
import logging
from functools import partial

import pytest

from group_coordinator.clients.channel import Body
from group_coordinator.gateway.cluster.fair_queues import FairQueues
from group_coordinator.gateway.connections.admission import ReadQueue
from group_coordinator.gateway.groups.offset_apis import GroupQueues
from tests.unit.gateway.scripted_broker import PATIENCE_S
from tests.unit.gateway.stage import in_loop, settled


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
async def test_a_defect_behind_a_gone_client_is_logged(caplog: pytest.LogCaptureFixture) -> None:
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


@in_loop
async def test_so_many_at_once_and_addresses_in_turns() -> None:
    turns, begun, end = FairQueues(2), list[str](), asyncio.Event()

    async def work(name: str) -> None:
        async with turns.turn(name[0]):
            begun.append(name)
            await end.wait()

    names = ("a1", "a2", "a3", "a4", "a5", "b1", "c1", "b2")
    tasks = {name: asyncio.create_task(work(name)) for name in names}
    await settled()
    at_first = [*begun]
    tasks["a4"].cancel()
    await settled()
    end.set()
    await asyncio.wait(tasks.values())

    assert at_first == ["a1", "a2"]
    assert begun == ["a1", "a2", "a3", "b1", "c1", "b2", "a5"]


@in_loop
async def test_a_turn_that_comes_together_with_the_end_of_the_wait_goes_to_the_next() -> None:
    turns, begun, end = FairQueues(1), list[str](), asyncio.Event()

    async def work(name: str) -> None:
        async with turns.turn(name):
            begun.append(name)
            await end.wait()

    first, gone, patient = [asyncio.create_task(work(name)) for name in "abc"]
    await settled()
    end.set()
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.wait([first, gone, patient])

    assert gone.cancelled()
    assert begun == ["a", "c"]


def test_eight_are_read_in_a_pass_of_the_loop_in_the_order_in_which_they_came() -> None:
    async def scene() -> list[list[int]]:
        queue, read = ReadQueue(), list[int]()
        for number in range(20):
            queue.wait(partial(read.append, number))
        passes = []
        for _ in range(3):
            await asyncio.sleep(0)
            passes.append(read.copy())
        return passes

    assert asyncio.run(scene()) == [list(range(8)), list(range(16)), list(range(20))]


def test_who_waits_again_while_it_is_read_comes_behind_the_others() -> None:
    async def scene() -> list[str]:
        queue, read = ReadQueue(), list[str]()

        def greedy() -> None:
            read.append("greedy")
            if read.count("greedy") < 3:
                queue.wait(greedy)

        queue.wait(greedy)
        queue.wait(lambda: read.append("patient"))
        for _ in range(3):
            await asyncio.sleep(0)
        return read

    assert asyncio.run(scene()) == ["greedy", "patient", "greedy", "greedy"]
