"""Serves the page to a browser on this machine, and keeps it current."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer
from socket import AF_INET6
from threading import Thread
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from group_coordinator.codecs.host_and_port import written
from group_coordinator.observability.http_server import (
    FewConnections,
    ShortRequest,
    is_own_name,
)


class Texts(NamedTuple):
    """The page, and what of it changes."""

    page: str
    content: str


class Current:
    """The texts as they were made last. One thread makes them, others read them."""

    def __init__(self, make: Callable[[], Texts]) -> None:
        self._make = make
        self._texts = make()
        self.trouble = ""

    def renew(self) -> None:
        """Make them anew."""
        self._texts, self.trouble = self._make(), ""

    def text_of(self, path: str) -> str | None:
        """What a path shows; None: there is nothing."""
        return {"/": self._texts.page, "/content": self._texts.content}.get(path)


@contextmanager
def served(current: Current, host: str, port: int) -> Iterator[str]:
    """A server for the length of the block; its address.

    Raises:
        OSError: nobody can listen there.
    """

    class Handler(_Handler):
        texts = current
        own_name = host

    kind = _ServerOfIPv6 if ":" in host else _Server
    with kind((host, port), Handler) as server:
        thread = Thread(target=server.serve_forever, name="report", daemon=True)
        thread.start()
        try:
            yield f"http://{written(host, server.server_port)}/"
        finally:
            server.shutdown()
            thread.join()


class _Server(FewConnections, HTTPServer):
    pass


class _ServerOfIPv6(_Server):
    address_family = AF_INET6


class _Handler(ShortRequest, BaseHTTPRequestHandler):
    texts: Current
    own_name: str

    def do_GET(self) -> None:
        """The page, or the news."""
        if not is_own_name(self.headers.get("Host", ""), self.own_name):
            self._answer(
                HTTPStatus.MISDIRECTED_REQUEST, "this server has another name", "text/plain"
            )
        elif self.texts.trouble:
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE, self.texts.trouble, "text/plain")
        elif (text := self.texts.text_of(urlsplit(self.path).path)) is None:
            self._answer(HTTPStatus.NOT_FOUND, "there is only /", "text/plain")
        else:
            self._answer(HTTPStatus.OK, text, "text/html")

    def _answer(self, status: HTTPStatus, text: str, kind: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
        """Nobody wants to read of every request."""
