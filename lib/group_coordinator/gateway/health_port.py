"""A small HTTP port for monitoring: it answers GET of a few pages, one request a connection."""

from __future__ import annotations

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import NamedTuple

from group_coordinator.gateway.cluster.addresses import Address
from group_coordinator.observability import http_server


class Page(NamedTuple):
    """What is shown."""

    status: HTTPStatus
    text: str


class HealthPort:
    """Pages are made when they are asked for."""

    def __init__(self, pages: Mapping[str, Callable[[], Page]]) -> None:
        self._pages = pages
        self._server: asyncio.Server | None = None
        self._listens_on = ""
        self._connections = 0

    async def open(self, listen: Address) -> None:
        """Answer from now on.

        Raises:
            OSError: the port is taken, or the address is not this machine's.
        """
        self._listens_on = listen.host
        self._server = await asyncio.start_server(
            self._serve, *listen, limit=http_server.LONGEST_REQUEST_BYTES
        )

    def close(self) -> None:
        """Answer no more."""
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._connections += 1
        try:
            async with asyncio.timeout(http_server.REQUEST_TIMEOUT_S):
                if self._connections <= http_server.MOST_CONNECTIONS:
                    request = await reader.readuntil(b"\r\n\r\n")
                    writer.write(_response(self._page(request)))
                writer.close()
                await writer.wait_closed()
        except (OSError, EOFError, asyncio.LimitOverrunError):
            pass  # whoever it was, it is gone, slow, or does not speak HTTP
        finally:
            writer.transport.abort()
            self._connections -= 1

    def _page(self, request: bytes) -> Page:
        method, _, rest = request.partition(b" ")
        target, _, _ = rest.partition(b" ")
        path, _, _ = target.decode("latin-1").partition("?")
        if not all(http_server.is_addressed(host, self._listens_on) for host in _hosts(request)):
            return Page(HTTPStatus.MISDIRECTED_REQUEST, "this server has another name\n")
        if method != b"GET":
            return Page(HTTPStatus.METHOD_NOT_ALLOWED, "GET only\n")
        if path not in self._pages:
            return Page(HTTPStatus.NOT_FOUND, f"{' '.join(self._pages)}\n")
        return self._pages[path]()


def _hosts(request: bytes) -> list[str]:
    headers = (line.partition(b":") for line in request.splitlines()[1:])
    return [
        value.strip().decode("latin-1") for name, _, value in headers if name.lower() == b"host"
    ]


def _response(page: Page) -> bytes:
    body = page.text.encode()
    head = (
        f"HTTP/1.1 {page.status} {page.status.phrase}\r\n"
        "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
