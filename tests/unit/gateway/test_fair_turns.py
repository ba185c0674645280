from __future__ import annotations

import asyncio

from group_coordinator.gateway.cluster.fair_queues import FairQueues
from tests.unit.gateway.stage import in_loop, settled


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
