"""Connections of the gateway's own to several brokers, each opened when it is first needed."""

from __future__ import annotations

import asyncio
from typing import Any

from group_coordinator.codecs.wire import WireError
from group_coordinator.gateway.cluster.addresses import Address
from group_coordinator.gateway.cluster.broker_access import PLAIN_ACCESS, BrokerAccess
from group_coordinator.gateway.cluster.broker_link import BrokerLink

FAILURES = (OSError, EOFError, WireError)
"""What a question to a broker may raise."""


class BrokerLinks:
    """One link a broker."""

    def __init__(self, access: BrokerAccess = PLAIN_ACCESS) -> None:
        self._access = access
        self._links: dict[Address, BrokerLink] = {}
        self._opening = asyncio.Lock()

    async def knows(self, broker: Address, api: str) -> bool:
        """Whether the broker takes such requests.

        Raises:
            OSError, EOFError, WireError: it cannot be reached.
        """
        return (await self._opened(broker)).knows(api)

    async def ask(self, broker: Address, api: str, body: dict[str, Any]) -> dict[str, Any]:
        """The answer, in the highest version that both sides know.

        Raises:
            OSError, EOFError, WireError: there is none.
        """
        link = await self._opened(broker)
        try:
            return await link.ask(api, body)
        except BaseException:
            # Its answer may come later, and would be taken for another's.
            link.close()
            if self._links.get(broker) is link:
                del self._links[broker]
            raise

    def close(self) -> None:
        """Hang up."""
        for link in self._links.values():
            link.close()
        self._links.clear()

    async def _opened(self, broker: Address) -> BrokerLink:
        async with self._opening:
            link = self._links.get(broker)
            if link is None or link.is_over:
                link = self._links[broker] = await BrokerLink.open(broker, self._access)
        return link
