"""Whether brokers have an authorizer: rights are not asked for only while each of them says that it has none."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from time import monotonic

from group_coordinator.gateway.cluster.addresses import Address
from group_coordinator.gateway.cluster.broker_access import BrokerAccess
from group_coordinator.gateway.cluster.broker_links import FAILURES, BrokerLinks

LOOK_INTERVAL_S = 30.0
"""Brokers write a denial into their logs where we may not ask."""
_TIMEOUT_S = 5.0
_SECURITY_DISABLED = 54
"""What a broker without an authorizer says of ACLs."""
_ANY_ACL = {
    "resourceTypeFilter": 4,  # the cluster, of which there is one
    "resourceNameFilter": "kafka-cluster",
    "patternTypeFilter": 3,
    "principalFilter": "User:nobody",
    "hostFilter": "nowhere",
    "operation": 1,
    "permissionType": 1,
}

_log = logging.getLogger(__name__)


class Authorizers:
    """Asks every broker: one that is set up otherwise than the others still refuses what it refuses."""

    def __init__(self, access: BrokerAccess) -> None:
        self._links = BrokerLinks(access)
        self._said: dict[int, bool] = {}
        """By node; one that does not answer is taken at its last word."""
        self._next_look_s = monotonic()
        self.are_there = True
        """Whether brokers let some do what they do not let others do; until all have said, they may."""

    async def look(self, brokers: Mapping[int, Address]) -> None:
        """Ask them, if it is time or one of them is new."""
        if monotonic() < self._next_look_s and brokers.keys() <= self._said.keys():
            return
        level = logging.WARNING if self._said else logging.INFO
        said = await asyncio.gather(*map(self._ask, brokers.values()))
        self._next_look_s = monotonic() + LOOK_INTERVAL_S
        self._said = {
            node: self._said.get(node, True) if answer is None else answer
            for node, answer in zip(brokers, said, strict=True)
        }
        self._conclude([node for node, has_one in self._said.items() if has_one], level)

    def close(self) -> None:
        """Hang up."""
        self._links.close()

    def _conclude(self, nodes: list[int], level: int) -> None:
        are_there = bool(nodes) or not self._said
        if are_there and not self.are_there:
            _log.log(level, "Rights of clients are asked for: nodes with an authorizer: %s", nodes)
        elif self.are_there and not are_there:
            _log.log(level, "Rights of clients are not asked for: no broker has an authorizer")
        self.are_there = are_there

    async def _ask(self, broker: Address) -> bool | None:
        """Whether it has one; None: it does not answer."""
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                if not await self._links.knows(broker, "DescribeAcls"):
                    return True
                answer = await self._links.ask(broker, "DescribeAcls", _ANY_ACL)
        except FAILURES:  # TimeoutError is an OSError
            return None
        return bool(answer["errorCode"] != _SECURITY_DISABLED)
