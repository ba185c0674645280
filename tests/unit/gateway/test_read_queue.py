"""Many clients that nobody knows send at once: the others have their turn between them."""

from __future__ import annotations

import asyncio
from functools import partial

from group_coordinator.gateway.connections.admission import ReadQueue


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
