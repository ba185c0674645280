"""The HTTP port for Prometheus and schedulers: /metrics, /healthz, /readyz."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from http import HTTPStatus
from wsgiref.types import WSGIApplication

from prometheus_client import CollectorRegistry, make_wsgi_app

from group_coordinator.observability.http_server import Page, http_server

METRICS, ALIVE, READY = "/metrics", "/healthz", "/readyz"

Trouble = Callable[[], str | None]
"""Returns why the job does not work at present; None: it works."""


def metrics_port(
    address: tuple[str, int], registry: CollectorRegistry, trouble: Trouble
) -> AbstractContextManager[int]:
    """Serve the metrics; yields and raises as http_server."""

    def ready() -> Page:
        why = trouble()
        status = HTTPStatus.OK if why is None else HTTPStatus.SERVICE_UNAVAILABLE
        return Page(status, f"{why or 'ready'}\n")

    metrics = make_wsgi_app(registry)
    pages: dict[str, Callable[[], WSGIApplication]] = {
        METRICS: lambda: metrics,
        ALIVE: lambda: Page(HTTPStatus.OK, "alive\n"),
        READY: ready,
    }
    return http_server(address, "metrics-port", pages)
