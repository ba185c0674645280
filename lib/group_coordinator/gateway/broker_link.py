"""Questions of the gateway's own to a broker, on a connection of their own."""

from __future__ import annotations

import asyncio
from asyncio import StreamReader, StreamWriter
from itertools import count
from typing import Any, Self

from group_coordinator.codecs import wire
from group_coordinator.gateway.addresses import Address

CLIENT_ID = "group-coordinator-gateway"


class BrokerLink:
    """One question at a time; after a failure it is of no use any more."""

    def __init__(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._numbers = count(1)
        self._highest: dict[str, int] = {}
        self._one_by_one = asyncio.Lock()

    @classmethod
    async def open(cls, broker: Address) -> Self:
        """Connect, and hear which versions the broker has.

        Raises:
            OSError, EOFError: it cannot be reached, or hangs up.
        """
        link = cls(*await asyncio.open_connection(*broker))
        answer = await link._ask("ApiVersions", 0, {})
        link._highest = {
            name: entry["maxVersion"]
            for entry in answer["apiKeys"]
            if (name := wire.api_name(entry["apiKey"])) is not None
        }
        return link

    async def ask(self, api: str, body: dict[str, Any]) -> dict[str, Any]:
        """The answer, in the highest version that both sides know; fields that it does not have are left out.

        Raises:
            OSError, EOFError, WireError: there is none.
        """
        version = min(self._highest[api], wire.valid_versions(api)[-1])
        return await self._ask(api, version, body)

    def close(self) -> None:
        """Hang up."""
        self._writer.close()

    async def _ask(self, api: str, version: int, body: dict[str, Any]) -> dict[str, Any]:
        async with self._one_by_one:
            self._writer.write(wire.request(api, version, next(self._numbers), CLIENT_ID, body))
            await self._writer.drain()
            size = int.from_bytes(await self._reader.readexactly(4))
            frame = await self._reader.readexactly(size)
        return wire.response_body(api, version, frame)[1]
