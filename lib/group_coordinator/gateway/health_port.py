"""HTTP port for monitoring: readiness, health and metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from http import HTTPStatus
from typing import TypeAlias

from group_coordinator.gateway.cluster.addresses import Address
from group_coordinator.gateway.cluster.cluster_view import ClusterView
from group_coordinator.observability.http_server import Page, http_server

OLDEST_VIEW_S = 10.0

Check = Callable[[], str | None]
"""Readiness check: one sentence about the problem, None without a problem."""


def cluster_check(view: ClusterView) -> Check:
    """Check that a broker answered the gateway recently."""

    def check() -> str | None:
        age_s = view.age_s()
        if age_s is None or age_s > OLDEST_VIEW_S:
            return "no broker has shown the brokers and topics of the cluster for 10 seconds"
        return None

    return check


def first_trouble(checks: Sequence[Check]) -> str | None:
    return next(filter(None, (check() for check in checks)), None)


def ready_page(checks: Sequence[Check], nodes_without_port: Mapping[int, str]) -> Page:
    """Readiness page. A node without a port is named, but the gateway stays ready for all other nodes."""
    trouble = first_trouble(checks)
    if trouble is not None:
        return Page(HTTPStatus.SERVICE_UNAVAILABLE, f"{trouble}\n")
    hidden = (
        f"clients cannot connect to node {n}: {why}\n" for n, why in nodes_without_port.items()
    )
    return Page(HTTPStatus.OK, "".join(["ready\n", *hidden]))


Pages: TypeAlias = Mapping[str, Callable[[], Page]]


def health_port(listen: Address, pages: Pages) -> AbstractContextManager[int]:
    """Serve pages as http_server does, made inside the event loop."""
    loop = asyncio.get_running_loop()

    def in_loop(page: Callable[[], Page]) -> Callable[[], Page]:
        async def made() -> Page:
            return page()

        # The HTTP server has its own threads, but the gateway's state belongs to the loop.
        return lambda: asyncio.run_coroutine_threadsafe(made(), loop).result()

    return http_server(listen, "health-port", {path: in_loop(page) for path, page in pages.items()})
