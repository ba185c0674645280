"""Members that do nothing but send heartbeats, each on a connection of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from time import perf_counter
from typing import NamedTuple

from group_coordinator.gateway.connections.tcp_connection import raise_open_files
from tests.benchmarks.answer_times import ResponseTimes, heartbeat
from tests.benchmarks.wire_client import WireClient

MEMBERS_A_GROUP = 10
INTERVAL_S = 5.0
"""Which the coordinator tells consumers by default."""
_CONNECTING_AT_ONCE = 100
_LOOK_S = 0.1


class Crowd(NamedTuple):
    """So many members, on connections to one port."""

    port: int
    members: int

    async def opened(self) -> Sequence[WireClient]:
        """Their connections."""
        raise_open_files()
        clients: list[WireClient] = []
        while len(clients) < self.members:
            count = min(_CONNECTING_AT_ONCE, self.members - len(clients))
            more = (WireClient.connected(self.port) for _ in range(count))
            clients += await asyncio.gather(*more)
        return clients


class Heartbeats:
    """All members of a crowd: each sends at its own time, and none again before it was answered."""

    def __init__(self, clients: Sequence[WireClient]) -> None:
        self._times = ResponseTimes()
        self._count = len(clients)
        self._members = [
            asyncio.create_task(self._live(number, client)) for number, client in enumerate(clients)
        ]

    async def during(self, seconds: float) -> ResponseTimes:
        """What was asked in the next so many seconds, when it is answered."""
        self._times = times = ResponseTimes()
        await asyncio.sleep(seconds)
        self._times = ResponseTimes()
        while times.open:  # noqa: ASYNC110 - a gateway answers in time, or hangs up
            await asyncio.sleep(_LOOK_S)
        return times

    async def end(self) -> None:
        """No further ones."""
        for member in self._members:
            member.cancel()
        await asyncio.gather(*self._members, return_exceptions=True)

    async def _live(self, number: int, client: WireClient) -> None:
        group_id = f"idle-{number // MEMBERS_A_GROUP}"
        epoch, due_s = 0, perf_counter() + INTERVAL_S * number / self._count
        while True:
            await asyncio.sleep(due_s - perf_counter())
            request = heartbeat(group_id, f"member-{number}", epoch)
            answer = await self._times.timed(client.ask, request)
            epoch = 0 if answer is None else answer["memberEpoch"]
            due_s = max(due_s + INTERVAL_S, perf_counter())
