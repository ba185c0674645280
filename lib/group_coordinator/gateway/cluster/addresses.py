"""Addresses for clients: those of the gateway's settings, and in responses the gateway's address of each node id for a broker's.

FindCoordinator gives each group a node, though the port of any node serves any group.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple, Protocol
from zlib import crc32

from group_coordinator.clients.channel import Body
from group_coordinator.codecs import wire
from group_coordinator.codecs.host_and_port import AddressError, host_alone, host_and_port, written
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway import GatewayStartError
from group_coordinator.gateway.api_versions import Rewriting

_PRODUCE_READ_FROM = 10
"""First version with addresses in its responses (KIP-951)."""
_NOBODY = -1
"""Node id in place of a node that does not exist."""


class Address(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return written(self.host, self.port)


class Nodes(Protocol):
    """The brokers, each behind a port of the gateway."""

    def show(self, node_id: int, broker: Address) -> Address | None: ...


class Addresses:
    """Rewrites the responses of the four APIs that contain addresses in the served versions."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._rewritings: dict[str, Callable[[int, memoryview], bytes]] = {
            # The fields from the topics on stay bytes: the response may have many topics.
            "Metadata": partial(self._all_brokers, "Metadata", "topics", "nodeId"),
            "DescribeCluster": partial(
                self._all_brokers, "DescribeCluster", "clusterAuthorizedOperations", "brokerId"
            ),
            "FindCoordinator": self._coordinators,
            "Produce": self._leaders,
        }
        self.rewriting = cache(self._rewriting)
        """Function for the responses of an API and version; None: the response stays as it is."""

    def _rewriting(self, api: str, version: int) -> Rewriting | None:
        if api not in self._rewritings or (api == "Produce" and version < _PRODUCE_READ_FROM):
            return None
        return partial(self._rewritings[api], version)

    def _all_brokers(
        self, api: str, before: str, id_field: str, version: int, frame: memoryview
    ) -> bytes:
        opening = wire.ResponseOpening(api, version, before, frame)
        self._show_brokers(id_field, opening.fields)
        return opening.followed_by(frame[opening.end :])

    def _show_brokers(self, id_field: str, body: dict[str, Any]) -> None:
        body["brokers"] = [b for b in body["brokers"] if self._replace(b, id_field)]
        shown = [broker[id_field] for broker in body["brokers"]]
        if shown and body.get("controllerId", _NOBODY) not in (_NOBODY, *shown):
            # Any broker of a KRaft cluster forwards the requests for the controller.
            body["controllerId"] = shown[0]

    def _coordinators(self, version: int, frame: memoryview) -> bytes:
        correlation_id, body = wire.response_body("FindCoordinator", version, frame)
        # No coordinators of groups are here. A node id of -1 means that there is none now.
        for found in body.get("coordinators", [body]):
            if found["nodeId"] >= 0 and not self._replace(found, "nodeId"):
                found |= {"nodeId": -1, "host": "", "port": -1, "errorCode": 15}
        return wire.response("FindCoordinator", version, correlation_id, body)

    def _leaders(self, version: int, frame: memoryview) -> bytes:
        correlation_id, body = wire.response_body("Produce", version, frame)
        endpoints = body.get("nodeEndpoints")
        # Endpoints are there only after a change of leaders. Without them the bytes are kept.
        if not endpoints:
            return len(frame).to_bytes(4) + bytes(frame)
        body["nodeEndpoints"] = [e for e in endpoints if self._replace(e, "nodeId")]
        return wire.response("Produce", version, correlation_id, body)

    def _replace(self, entry: dict[str, Any], id_field: str) -> bool:
        shown = self._nodes.show(entry[id_field], Address(entry["host"], entry["port"]))
        if shown is None:
            return False
        entry["host"], entry["port"] = shown
        return True


def coordinator_of(group_id: str, node_ids: Collection[int]) -> int:
    """Return the group's node. All gateways of a cluster compute the same node. The node ids must not be empty."""
    # A CRC of the id needs no state, so all gateways agree without talking to each other.
    ordered = sorted(node_ids)
    return ordered[crc32(group_id.encode()) % len(ordered)]


OF_GROUPS = 0
"""Key type."""
_SEVERAL_KEYS_FROM = 4
_MESSAGES = {
    ErrorCode.NONE: "NONE",
    ErrorCode.GROUP_AUTHORIZATION_FAILED: "Group authorization failed.",
}
"""Messages of brokers in versions with one key."""


class Coordinators:
    def __init__(
        self, node_ids: Callable[[], Collection[int]], address_of: Callable[[int], Address | None]
    ) -> None:
        self._node_ids = node_ids
        self._address_of = address_of

    def answer(self, version: int, body: Body, denied: Collection[str] = frozenset()) -> Body:
        """Return the response for groups, an authorization failure for those in `denied`."""

        def find(key: str) -> dict[str, Any]:
            if key in denied:
                return _nobody(ErrorCode.GROUP_AUTHORIZATION_FAILED)
            return self._find(key)

        if version < _SEVERAL_KEYS_FROM:
            found = find(body["key"])
            return {**found, "errorMessage": _MESSAGES.get(found.get("errorCode", 0), "")}
        return {"coordinators": [{"key": key, **find(key)} for key in body["coordinatorKeys"]]}

    def share_of(self, node_id: int, group_ids: Iterable[str]) -> frozenset[str]:
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
    keys: Sequence[str] = body["coordinatorKeys"] if "coordinatorKeys" in body else [body["key"]]
    return keys


def listen_address(setting: str, text: str) -> Address:
    """Parse HOST:PORT, on which this process listens. Raises GatewayStartError: the text has another form, or port 0."""
    try:
        address = Address(*host_and_port(text))
    except AddressError:
        address = None
    if address is None or address.port == 0:
        raise GatewayStartError(f"{setting} = {text}: it must be HOST:PORT, such as 0.0.0.0:19092")
    return address


def advertised_host(setting: str, text: str) -> str:
    """Return the host for responses to clients, an IPv6 address without brackets as in Kafka's. Raises GatewayStartError: it is no host."""
    try:
        return host_alone(text)
    except AddressError as error:
        raise GatewayStartError(
            f"{setting} = {text} is not a host without a port: remove the port; clients get the ports of gateway.listen"
        ) from error


def check_protocol(setting: str, text: str, *, is_encrypted: bool) -> None:
    """Raise GatewayStartError if the protocol in an address, if it has one, does not match the TLS settings."""
    protocol, is_named, _ = text.upper().partition("://")
    if is_named and protocol.endswith("SSL") and not is_encrypted:
        raise GatewayStartError(f"{setting} = {text} is TLS: set gateway.ssl.keystore.location too")
    if is_named and protocol.endswith("PLAINTEXT") and is_encrypted:
        raise GatewayStartError(
            f"{setting} = {text} is not TLS: remove gateway.ssl.keystore.location, or use SSL or SASL_SSL"
        )
