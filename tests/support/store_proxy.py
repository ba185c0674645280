"""Stands before an S3 server: `python -m tests.support.store_proxy PORT`, which says its own port first.

Orders come by standard input: `delay SECONDS` for each request's way there, `mood MOOD`.
"""

from __future__ import annotations

import asyncio
import re
import sys
from dataclasses import dataclass
from enum import Enum

_PIECE_BYTES = 1 << 16
_ERROR = "<?xml version='1.0'?><Error><Code>{code}</Code><Message>{message}</Message></Error>"


class Mood(Enum):
    """How the store takes what is asked of it."""

    WELL = "well"
    SLOW_DOWN = "slow down"
    """503, as S3 says to who asks too much."""
    DENIED = "denied"
    """403, as S3 says to who has lost a right, or whose key has run out."""
    HANGS = "hangs"
    AWAY = "away"
    """Nobody is there, and who was connected is hung up on."""


_REFUSALS = {
    Mood.SLOW_DOWN: (
        "503 Slow Down",
        _ERROR.format(code="SlowDown", message="Reduce your request rate."),
    ),
    Mood.DENIED: ("403 Forbidden", _ERROR.format(code="AccessDenied", message="Access Denied")),
}


@dataclass(slots=True)
class Turn:
    """Of a connection: what its client sends next is a new request once the server has answered."""

    is_new_request: bool = True


class Proxy:
    """Passes bytes on, later."""

    def __init__(self, server_port: int) -> None:
        self._server_port = server_port
        self._delay_s = 0.0
        self._mood = Mood.WELL
        self._writers: set[asyncio.StreamWriter] = set()

    async def run(self) -> None:
        """Say the port, and then a line to each order of standard input."""
        opened = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        _say(opened.sockets[0].getsockname()[1])
        orders = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(orders), sys.stdin
        )
        while line := (await orders.readline()).decode():
            name, _, value = line.strip().partition(" ")
            if name == "delay":
                self._delay_s = float(value)
            else:
                self._mood = Mood(value)
                for writer in (*self._writers,):
                    writer.transport.abort()
            _say("done")

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            await self._passed_on(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass  # either side has gone
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _passed_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._mood is Mood.AWAY:
            return
        if self._mood is not Mood.WELL:
            await self._refused(reader, writer)
            return
        from_server, to_server = await asyncio.open_connection("127.0.0.1", self._server_port)
        try:
            async with asyncio.TaskGroup() as both:
                turn = Turn()
                both.create_task(self._to(to_server, reader, turn))
                both.create_task(self._from(from_server, writer, turn))
        except* OSError:
            pass
        finally:
            to_server.close()

    async def _refused(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            if self._mood is Mood.HANGS:
                await asyncio.sleep(3600)
            size = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
            if size:
                await reader.readexactly(int(size[1]))
            status, body = _REFUSALS[self._mood]
            answer = f"HTTP/1.1 {status}\r\nContent-Type: application/xml\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write((answer + ("" if head.startswith(b"HEAD") else body)).encode())

    async def _to(
        self, server: asyncio.StreamWriter, reader: asyncio.StreamReader, turn: Turn
    ) -> None:
        while data := await reader.read(_PIECE_BYTES):
            if turn.is_new_request:
                turn.is_new_request = False
                await asyncio.sleep(self._delay_s)
            server.write(data)
            await server.drain()
        server.write_eof()

    async def _from(
        self, server: asyncio.StreamReader, writer: asyncio.StreamWriter, turn: Turn
    ) -> None:
        while data := await server.read(_PIECE_BYTES):
            turn.is_new_request = True
            writer.write(data)
            await writer.drain()
        writer.write_eof()


def _say(what: object) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(Proxy(int(sys.argv[1])).run())
