"""The HTTP port that Prometheus and schedulers ask: /metrics, /healthz, /readyz."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from socket import AF_INET6
from socketserver import TCPServer, ThreadingMixIn
from threading import Thread
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import CollectorRegistry, make_wsgi_app

METRICS, ALIVE, READY = "/metrics", "/healthz", "/readyz"
_REQUEST_TIMEOUT_S = 5.0

Trouble = Callable[[], str | None]
"""Why nothing should be expected of the job now; None: all is well."""


class _Handler(WSGIRequestHandler):
    timeout = _REQUEST_TIMEOUT_S

    def log_message(self, *_: object) -> None:
        """Whoever asks every few seconds is not worth a line."""


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True

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
        server.set_app(_pages(registry, trouble))
        thread = Thread(target=server.serve_forever, name="metrics-port", daemon=True)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def _pages(registry: CollectorRegistry, trouble: Trouble) -> Callable[..., Iterable[bytes]]:
    metrics = make_wsgi_app(registry)

    def ready() -> tuple[HTTPStatus, str]:
        why = trouble()
        return (HTTPStatus.OK, "ready") if why is None else (HTTPStatus.SERVICE_UNAVAILABLE, why)

    pages = {ALIVE: lambda: (HTTPStatus.OK, "alive"), READY: ready}

    def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        if path == METRICS:
            page: Iterable[bytes] = metrics(environ, start_response)
            return page
        if path in pages:
            status, text = pages[path]()
        else:
            status, text = HTTPStatus.NOT_FOUND, " ".join([METRICS, *pages])
        head = [("Content-Type", "text/plain; charset=utf-8")]
        start_response(f"{status.value} {status.phrase}", head)
        return [f"{text}\n".encode()]

    return app
