"""Replacement of brokers' addresses in responses: clients get the gateway's address of each node id."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple, Protocol

from group_coordinator.codecs import wire
from group_coordinator.codecs.host_and_port import written
from group_coordinator.gateway.client_requests import Rewriting

_PRODUCE_READ_FROM = 10
"""First version with addresses in its responses (KIP-951)."""
_NOBODY = -1
"""Node id in place of a node that does not exist."""


class Address(NamedTuple):
    """Host and port of a server."""

    host: str
    port: int

    def __str__(self) -> str:
        return written(self.host, self.port)


class Nodes(Protocol):
    """The brokers, each behind a port of the gateway."""

    def show(self, node_id: int, broker: Address) -> Address | None:
        """Address of a broker for clients; None: the gateway has no free port for it."""


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
        # Only coordinators of transactions are here. A node id of -1 means that there is none now.
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
        """Replace the address; False: clients have no address of this node."""
        shown = self._nodes.show(entry[id_field], Address(entry["host"], entry["port"]))
        if shown is None:
            return False
        entry["host"], entry["port"] = shown
        return True
