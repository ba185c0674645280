from __future__ import annotations

import asyncio

from group_coordinator.gateway.cluster.newest_first import NewestFirst
from tests.unit.gateway.stage import settled


def test_so_many_at_once_and_the_newest_of_the_others_first() -> None:
    async def scene() -> None:
        turns, begun, end = NewestFirst(2), list[str](), asyncio.Event()

        async def work(name: str) -> None:
            async with turns:
                begun.append(name)
                await end.wait()

        tasks = {name: asyncio.create_task(work(name)) for name in "abcdef"}
        await settled()
        at_first = [*begun]
        tasks["f"].cancel()
        await settled()
        end.set()
        await asyncio.wait(tasks.values())

        assert at_first == ["a", "b"]
        assert begun == ["a", "b", "e", "d", "c"]

    asyncio.run(scene())


def test_a_turn_that_comes_together_with_the_end_of_the_wait_goes_to_the_next() -> None:
    async def scene() -> None:
        turns = NewestFirst(1)
        begun = asyncio.Event()

        async def work() -> None:
            async with turns:
                begun.set()

        await turns.__aenter__()
        patient = asyncio.create_task(work())
        await settled()
        gone = asyncio.create_task(work())
        await settled()
        await turns.__aexit__()
        gone.cancel()
        await patient

        assert gone.cancelled()
        assert begun.is_set()

    asyncio.run(scene())
