"""The gateway's own connections to several brokers. Each is opened at its first use."""

from __future__ import annotations

import asyncio
from typing import Any

from group_coordinator.codecs.wire import WireError
from group_coordinator.gateway.cluster.addresses import Address
from group_coordinator.gateway.cluster.broker_access import PLAIN_ACCESS, BrokerAccess
from group_coordinator.gateway.cluster.broker_link import BrokerLink

FAILURES = (OSError, EOFError, WireError)
"""Errors of a request to a broker."""


class BrokerLinks:
    """Connections by the broker's address."""

    def __init__(self, access: BrokerAccess = PLAIN_ACCESS) -> None:
        self._access = access
        self._links: dict[Address, BrokerLink] = {}
        self._opening = asyncio.Lock()

    async def knows(self, broker: Address, api: str) -> bool:
        """Return True if the broker supports the API.

        Raises:
            OSError, EOFError, WireError: the broker is unreachable.
        """
        return (await self._opened(broker)).knows(api)

    async def ask(self, broker: Address, api: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return the response, in the highest version of both sides.

        Raises:
            OSError, EOFError, WireError: there is no response.
        """
        link = await self._opened(broker)
        try:
            return await link.ask(api, body)
        except BaseException:
            # The response may come later, and would be read as the response to the next request.
            link.close()
            if self._links.get(broker) is link:
                del self._links[broker]
            raise

    def close(self) -> None:
        for link in self._links.values():
            link.close()
        self._links.clear()

    async def _opened(self, broker: Address) -> BrokerLink:
        async with self._opening:
            link = self._links.get(broker)
            if link is None or link.is_over:
                link = self._links[broker] = await BrokerLink.open(broker, self._access)
        return link
