"""What the HTTP ports of this project have in common: short requests, few connections, and an own name."""

from __future__ import annotations

import sys
from io import BytesIO
from ipaddress import ip_address
from socket import socket
from socketserver import StreamRequestHandler, ThreadingMixIn
from threading import BoundedSemaphore
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from group_coordinator.codecs.host_and_port import is_loopback

MOST_CONNECTIONS = 50
LONGEST_REQUEST_BYTES = 8 * 1024
REQUEST_TIMEOUT_S = 5.0
"""From the connection to the last byte of the request; and for its response again."""


class FewConnections(ThreadingMixIn):
    """A server with a thread for each of a few connections; it closes one that is too many at once."""

    daemon_threads = True

    def __init__(self, *given: Any) -> None:
        self._free = BoundedSemaphore(MOST_CONNECTIONS)
        super().__init__(*given)

    def verify_request(self, request: Any, client_address: Any) -> bool:  # noqa: ARG002 - the base's signature
        """Whether there is a thread for it."""
        return self._free.acquire(blocking=False)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """As the base, and the next one may come."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that is slow, or gone, is not worth a line."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)  # type: ignore[misc]  # it is mixed into a BaseServer


class ShortRequest(StreamRequestHandler):
    """Reads the head of a request, and nothing behind it, before anything else happens."""

    def setup(self) -> None:
        """As the base. A socket's own timeout begins again with each byte."""
        super().setup()
        self.rfile.close()
        self.rfile = BytesIO(_head(self.connection))
        self.connection.settimeout(REQUEST_TIMEOUT_S)


def _head(connection: socket) -> bytes:
    """The request up to its empty line; nothing if it is too long, or not all there when the client ends.

    Raises:
        TimeoutError: it takes too long.
    """
    until_s = monotonic() + REQUEST_TIMEOUT_S
    head = b""
    while b"\r\n\r\n" not in head:
        connection.settimeout(max(until_s - monotonic(), 0.001))
        part = connection.recv(LONGEST_REQUEST_BYTES)
        head += part
        if not part or len(head) > LONGEST_REQUEST_BYTES:
            return b""
    return head


def is_addressed(host: str | None, listens_on: str) -> bool:
    """Whether a request is for a port at this host: on loopback it may not have another one's name.

    Elsewhere the port has more names than its setting; who sends no Host is no browser.
    """
    return host is None or not is_loopback(listens_on) or is_own_name(host, listens_on)


def is_own_name(host: str, own_name: str) -> bool:
    """Whether a request's Host is this server.

    A page from elsewhere could give its own name this machine's address, and read the answers in a browser that trusts the name.
    """
    try:
        name = urlsplit(f"//{host}").hostname or ""
        if name not in {"localhost", own_name.lower()}:
            ip_address(name)
    except ValueError:
        return False
    return True
