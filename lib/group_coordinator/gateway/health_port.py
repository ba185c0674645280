"""The HTTP port of a gateway for monitoring. The event loop makes its pages: they tell of the loop's own objects."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TypeAlias

from group_coordinator.gateway.cluster.addresses import Address
from group_coordinator.observability.http_server import Page, http_server

Pages: TypeAlias = Mapping[str, Callable[[], Page]]
"""By path."""


def health_port(listen: Address, pages: Pages) -> AbstractContextManager[int]:
    """As http_server, inside the event loop."""
    loop = asyncio.get_running_loop()

    def in_loop(page: Callable[[], Page]) -> Callable[[], Page]:
        async def made() -> Page:
            return page()

        return lambda: asyncio.run_coroutine_threadsafe(made(), loop).result()

    return http_server(listen, "health-port", {path: in_loop(page) for path, page in pages.items()})
