"""FindCoordinator for groups: each group has a node, though the port of any node serves any group."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any
from zlib import crc32

from group_coordinator.clients.channel.channel import Body
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.cluster.addresses import Address


def coordinator_of(group_id: str, node_ids: Collection[int]) -> int:
    """Return the group's node. All gateways of a cluster compute the same node. The node ids must not be empty."""
    # A CRC of the id needs no state, so all gateways agree without talking to each other.
    ordered = sorted(node_ids)
    return ordered[crc32(group_id.encode()) % len(ordered)]


OF_GROUPS, OF_TRANSACTIONS = 0, 1
"""Key types; share groups have 2."""
_SEVERAL_KEYS_FROM = 4
_MESSAGES = {
    ErrorCode.NONE: "NONE",
    ErrorCode.GROUP_AUTHORIZATION_FAILED: "Group authorization failed.",
}
"""Messages of brokers in versions with one key."""


class Coordinators:
    """Responses by the nodes of the cluster view."""

    def __init__(
        self, node_ids: Callable[[], Collection[int]], address_of: Callable[[int], Address | None]
    ) -> None:
        self._node_ids = node_ids
        self._address_of = address_of

    def answer(self, version: int, body: Body, denied: Collection[str] = frozenset()) -> Body:
        """Return the response for key type 0 (groups); other key types are invalid.

        The `denied` groups get an authorization failure.
        """
        of_groups = body.get("keyType", OF_GROUPS) == OF_GROUPS

        def find(key: str) -> dict[str, Any]:
            if not of_groups:
                return _nobody(ErrorCode.INVALID_REQUEST)
            if key in denied:
                return _nobody(ErrorCode.GROUP_AUTHORIZATION_FAILED)
            return self._find(key)

        if version < _SEVERAL_KEYS_FROM:
            found = find(body["key"])
            return {**found, "errorMessage": _MESSAGES.get(found.get("errorCode", 0), "")}
        return {"coordinators": [{"key": key, **find(key)} for key in body["coordinatorKeys"]]}

    def share_of(self, node_id: int, group_ids: Iterable[str]) -> frozenset[str]:
        """Groups that clients look for at this node."""
        node_ids = self._node_ids()
        if not node_ids:
            return frozenset()
        return frozenset(each for each in group_ids if coordinator_of(each, node_ids) == node_id)

    def _find(self, group_id: str) -> dict[str, Any]:
        node_ids = self._node_ids()
        # Groups are spread over the nodes, so that a member and the admin tools find the same port.
        node_id = coordinator_of(group_id, node_ids) if node_ids else -1
        address = self._address_of(node_id)
        if address is None:
            return _nobody(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        return {"nodeId": node_id, "host": address.host, "port": address.port}


def _nobody(code: ErrorCode) -> dict[str, Any]:
    return {"nodeId": -1, "host": "", "port": -1, "errorCode": code}


def keys_of(body: Body) -> Sequence[str]:
    """Keys of a request in any version."""
    keys: Sequence[str] = body["coordinatorKeys"] if "coordinatorKeys" in body else [body["key"]]
    return keys
