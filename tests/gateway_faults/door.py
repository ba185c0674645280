"""A door before ports whose owner gets killed: until it is back, who comes is hung up on and not refused.

franz-go's tests are made for brokers that hang up. Where a connection is refused they end, and look at no record.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from threading import Event, Thread

from group_coordinator.local.broker import LOOPBACK

HOST = "127.0.0.2"
"""Where the door is, at the same ports as what is behind it."""
_PIECE_BYTES = 256 * 1024
_CLOSE_S = 10.0
_PAUSE_S = 0.5
"""Before who comes is hung up on: some clients come again at once, and the owner needs the processor for its start."""


@contextmanager
def open_door(ports: Sequence[int]) -> Iterator[None]:
    """During the block HOST leads to these ports of the loopback interface."""
    door = _Door()
    thread = Thread(target=asyncio.run, args=[door.serve(ports)], name="door")
    thread.start()
    try:
        assert door.is_open.wait(timeout=10), f"{HOST} has no room for {ports}"
        yield
    finally:
        door.close()
        thread.join()


class _Door:
    def __init__(self) -> None:
        self.is_open = Event()
        self._closing = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    def close(self) -> None:
        """Hang up on everybody. It belongs to another thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._closing.set)

    async def serve(self, ports: Sequence[int]) -> None:
        """Until it is closed."""
        self._loop = asyncio.get_running_loop()
        servers = [
            await asyncio.start_server(partial(self._lead, port), HOST, port, backlog=1_000)
            for port in ports
        ]
        self.is_open.set()
        await self._closing.wait()
        for server in servers:
            server.close()
        for writer in self._writers:
            writer.transport.abort()
        if others := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(others, timeout=_CLOSE_S)

    async def _lead(
        self, port: int, of_client: asyncio.StreamReader, to_client: asyncio.StreamWriter
    ) -> None:
        try:
            of_owner, to_owner = await asyncio.open_connection(LOOPBACK, port)
        except OSError:
            await asyncio.sleep(_PAUSE_S)
            to_client.close()
            return
        both = {to_owner, to_client}
        self._writers |= both
        await asyncio.gather(_carry(of_client, to_owner), _carry(of_owner, to_client))
        self._writers -= both


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Until one side ends, and so the other one."""
    with suppress(ConnectionError):
        while piece := await reader.read(_PIECE_BYTES):
            writer.write(piece)
            await writer.drain()
    writer.close()
