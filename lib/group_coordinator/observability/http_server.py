"""The HTTP server of metrics, health and reports: a few pages, short requests, few connections, and an own name."""

from __future__ import annotations

import gzip
import sys
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from hmac import compare_digest
from http import HTTPStatus
from io import BytesIO
from ipaddress import ip_address
from socket import AF_INET6, socket
from socketserver import TCPServer, ThreadingMixIn
from ssl import SSLContext
from threading import BoundedSemaphore, Thread
from time import monotonic
from typing import Any
from urllib.parse import urlsplit
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from prometheus_client.exposition import gzip_accepted

from group_coordinator.codecs.host_and_port import is_loopback

MOST_CONNECTIONS = 50
LONGEST_REQUEST_BYTES = 8 * 1024
REQUEST_TIMEOUT_S = 5.0
"""Limit from the connection to the last byte of the request, and again for its response."""


@dataclass(frozen=True, slots=True)
class Page:
    """A response, which is a WSGI application too."""

    status: HTTPStatus
    text: str
    content_type: str = "text/plain"
    headers: tuple[tuple[str, str], ...] = ()

    def __call__(self, _: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        headers = [
            ("Content-Type", f"{self.content_type}; charset=utf-8"),
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
            *self.headers,
        ]
        start_response(f"{self.status.value} {self.status.phrase}", headers)
        return [self.text.encode()]


def is_own_name(host: str | None, own_name: str) -> bool:
    """Return True if a request's Host is this server."""
    # Otherwise another site could point its own name to this machine's address, and read the responses in a browser that
    # trusts the name.
    try:
        name = urlsplit(f"//{host or ''}").hostname or ""
        if name not in {"localhost", own_name.lower()}:
            ip_address(name)
    except ValueError:
        return False
    return True


def is_addressed(host: str | None, listens_on: str) -> bool:
    """Return True if a request is for a port at this host: on loopback other names are rejected; no browser omits Host."""
    return host is None or not is_loopback(listens_on) or is_own_name(host, listens_on)


Tls = Callable[[], SSLContext]
"""Returns the TLS context of the next connection."""


@contextmanager
def http_server(
    address: tuple[str, int],
    name: str,
    pages: Mapping[str, Callable[[], WSGIApplication]],
    is_ours: Callable[[str | None, str], bool] = is_addressed,
    *,
    tls: Tls | None = None,
) -> Iterator[int]:
    """Serve pages by path while the block runs, each in a thread of its own; yield the port's number, a free one for 0.

    `is_ours` returns True if a request with this Host is for a port at this host; without `tls` the port is plain. Raises OSError
    if the port is taken, or the address is not this machine's.
    """

    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        body = respond(environ, start_response)
        # An iterator has no length, so a response to HEAD has no Content-Length of 0.
        return iter([b""]) if environ["REQUEST_METHOD"] == "HEAD" else body

    def respond(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path, page = environ["PATH_INFO"], Page(HTTPStatus.NOT_FOUND, f"{' '.join(pages)}\n")
        if not is_ours(environ.get("HTTP_HOST"), address[0]):
            page = Page(HTTPStatus.MISDIRECTED_REQUEST, "this server has another host name\n")
        elif environ["REQUEST_METHOD"] not in {"GET", "HEAD"}:
            page = Page(HTTPStatus.METHOD_NOT_ALLOWED, "GET only\n")
        elif path in pages:
            return pages[path]()(environ, start_response)
        return page(environ, start_response)

    kind = _ServerOfIPv6 if ":" in address[0] else _Server
    with kind(address, _Handler) as server:
        server.set_app(app)
        server.tls = tls
        thread = Thread(target=server.serve_forever, name=name, daemon=True)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    tls: Tls | None = None

    def __init__(self, *given: Any) -> None:
        # Threads are cheap to start but not unlimited: a flood of connections must not use up the driver.
        self._free = BoundedSemaphore(MOST_CONNECTIONS)
        super().__init__(*given)

    def server_bind(self) -> None:
        """Bind as WSGIServer does, without the search for the host's name, which may take seconds."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]
        self.setup_environ()

    def verify_request(self, request: Any, client_address: Any) -> bool:  # noqa: ARG002 - the base's signature
        return self._free.acquire(blocking=False)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Handle a request; the thread of the connection makes the TLS handshake, as a slow client must not delay others."""
        if self.tls is None:
            super().finish_request(request, client_address)
            return
        request.settimeout(REQUEST_TIMEOUT_S)
        encrypted = self.tls().wrap_socket(request, server_side=True)
        try:
            super().finish_request(encrypted, client_address)
        finally:
            self.shutdown_request(encrypted)

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A slow or closed client is not worth a line of the log.
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _ServerOfIPv6(_Server):
    address_family = AF_INET6


class _Handler(WSGIRequestHandler):
    """Reads the head of a request, and nothing behind it, before anything else happens."""

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        # The whole head is read first, as a socket's timeout begins again with each byte.
        self.rfile = BytesIO(_head(self.connection))
        self.connection.settimeout(REQUEST_TIMEOUT_S)

    def log_message(self, *_: object) -> None:
        """Log nothing: schedulers and Prometheus ask every few seconds."""


def _head(connection: socket) -> bytes:
    """Return the request up to its empty line; empty if it is too long, or incomplete when the client ends."""
    until_s = monotonic() + REQUEST_TIMEOUT_S
    head = b""
    while b"\r\n\r\n" not in head:
        connection.settimeout(max(until_s - monotonic(), 0.001))
        part = connection.recv(LONGEST_REQUEST_BYTES)
        head += part
        if not part or len(head) > LONGEST_REQUEST_BYTES:
            return b""
    return head


METRICS, ALIVE, READY = "/metrics", "/healthz", "/readyz"

Trouble = Callable[[], str | None]
"""Returns why the job does not work at present; None: it works."""


def metrics_port(
    address: tuple[str, int],
    text: Callable[[], bytes],
    trouble: Trouble,
    *,
    login: str | None = None,
    tls: Tls | None = None,
) -> AbstractContextManager[int]:
    """Serve metrics, in Prometheus' text format, and health; yields and raises as http_server.

    `login` is USER:PASSWORD, which the metrics require; None: nothing. Health never requires it: schedulers have no login.
    """

    def ready() -> Page:
        why = trouble()
        status = HTTPStatus.OK if why is None else HTTPStatus.SERVICE_UNAVAILABLE
        return Page(status, f"{why or 'ready'}\n")

    pages: dict[str, Callable[[], WSGIApplication]] = {
        METRICS: lambda: partial(_metrics, text, login),
        ALIVE: lambda: Page(HTTPStatus.OK, "alive\n"),
        READY: ready,
    }
    return http_server(address, "metrics-port", pages, tls=tls)


_TEXT_FORMAT = "text/plain; version=0.0.4; charset=utf-8"
_QUICK = 1
"""The level of gzip: a cluster of 65,000 groups has tens of megabytes of metrics."""
_LOGIN_NEEDED = Page(
    HTTPStatus.UNAUTHORIZED,
    "a user and a password are needed: metrics.password.file has them\n",
    headers=(("WWW-Authenticate", 'Basic realm="metrics", charset="UTF-8"'),),
)


def _metrics(
    text: Callable[[], bytes],
    login: str | None,
    environ: WSGIEnvironment,
    start_response: StartResponse,
) -> Iterable[bytes]:
    if login is not None and not is_login(environ.get("HTTP_AUTHORIZATION"), login):
        return _LOGIN_NEEDED(environ, start_response)
    headers = [("Content-Type", _TEXT_FORMAT), ("Cache-Control", "no-store")]
    body = text()
    if gzip_accepted(environ.get("HTTP_ACCEPT_ENCODING", "")):
        headers.append(("Content-Encoding", "gzip"))
        body = gzip.compress(body, _QUICK)
    start_response("200 OK", headers)
    return [body]


def is_login(authorization: str | None, login: str) -> bool:
    """Return True if a request's Authorization has the login, by HTTP's Basic."""
    scheme, _, encoded = (authorization or "").partition(" ")
    try:
        given = b64decode(encoded.strip(), validate=True)
    except ValueError:
        return False
    # In constant time: how long a comparison takes must not show how much of a password is right.
    return scheme.lower() == "basic" and compare_digest(given, login.encode())
