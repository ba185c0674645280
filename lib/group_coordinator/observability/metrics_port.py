"""The HTTP port that Prometheus and schedulers ask: /metrics, /healthz, /readyz."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from socket import AF_INET6
from socketserver import TCPServer
from threading import Thread
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import CollectorRegistry, make_wsgi_app

from group_coordinator.observability.http_server import (
    FewConnections,
    ShortRequest,
    is_addressed,
)

METRICS, ALIVE, READY = "/metrics", "/healthz", "/readyz"

Trouble = Callable[[], str | None]
"""Why nothing should be expected of the job now; None: all is well."""


class _Handler(ShortRequest, WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        """Whoever asks every few seconds is not worth a line."""


class _Server(FewConnections, WSGIServer):
    def server_bind(self) -> None:
        """As WSGIServer's, without the search for the host's name, which may take seconds."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]
        self.setup_environ()


class _ServerOfIPv6(_Server):
    address_family = AF_INET6


@contextmanager
def metrics_port(
    address: tuple[str, int], registry: CollectorRegistry, trouble: Trouble
) -> Iterator[int]:
    """Answer while the block runs; the port's number, which is another one than that of `address` if that is 0.

    Raises:
        OSError: the port is taken, or the address is not this machine's.
    """
    kind = _ServerOfIPv6 if ":" in address[0] else _Server
    with kind(address, _Handler) as server:
        server.set_app(_pages(registry, trouble, address[0]))
        thread = Thread(target=server.serve_forever, name="metrics-port", daemon=True)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def _pages(
    registry: CollectorRegistry, trouble: Trouble, listens_on: str
) -> Callable[..., Iterable[bytes]]:
    metrics = make_wsgi_app(registry)

    def ready() -> tuple[HTTPStatus, str]:
        why = trouble()
        return (HTTPStatus.OK, "ready") if why is None else (HTTPStatus.SERVICE_UNAVAILABLE, why)

    pages = {ALIVE: lambda: (HTTPStatus.OK, "alive"), READY: ready}

    def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        is_ours = is_addressed(environ.get("HTTP_HOST"), listens_on)
        if is_ours and path == METRICS:
            page: Iterable[bytes] = metrics(environ, start_response)
            return page
        if not is_ours:
            status, text = HTTPStatus.MISDIRECTED_REQUEST, "this server has another name"
        elif path in pages:
            status, text = pages[path]()
        else:
            status, text = HTTPStatus.NOT_FOUND, " ".join([METRICS, *pages])
        head = [("Content-Type", "text/plain; charset=utf-8")]
        start_response(f"{status.value} {status.phrase}", head)
        return [f"{text}\n".encode()]

    return app
