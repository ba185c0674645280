"""FindCoordinator for groups: one of the nodes, at its port of the gateway."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.addresses import Address
from group_coordinator.gateway.coordinators import coordinator_of
from group_coordinator.gateway.group_part import Body

OF_GROUPS, OF_TRANSACTIONS = 0, 1
"""Key types; 2 are share groups."""
_SEVERAL_KEYS_FROM = 4


class Coordinators:
    """Answers with the nodes that there are at the time."""

    def __init__(
        self, node_ids: Callable[[], Collection[int]], address_of: Callable[[int], Address | None]
    ) -> None:
        self._node_ids = node_ids
        self._address_of = address_of

    def answer(self, version: int, body: Body) -> Body:
        """To a request for groups, or for what is not served."""
        of_groups = body.get("keyType", OF_GROUPS) == OF_GROUPS
        find = self._find if of_groups else _not_served
        if version < _SEVERAL_KEYS_FROM:
            return find(body["key"])
        return {"coordinators": [{"key": key, **find(key)} for key in body["coordinatorKeys"]]}

    def _find(self, group_id: str) -> dict[str, Any]:
        node_ids = self._node_ids()
        node_id = coordinator_of(group_id, node_ids) if node_ids else -1
        address = self._address_of(node_id)
        if address is None:
            return _nobody(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        return {"nodeId": node_id, "host": address.host, "port": address.port}


def _not_served(_key: str) -> dict[str, Any]:
    return _nobody(ErrorCode.INVALID_REQUEST)


def _nobody(code: ErrorCode) -> dict[str, Any]:
    return {"nodeId": -1, "host": "", "port": -1, "errorCode": code}
