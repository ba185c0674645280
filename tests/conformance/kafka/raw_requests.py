"""Any request to a Kafka broker, with Kafka's own field names, as bytes on a connection of its own."""

from __future__ import annotations

import socket
from typing import Final

from group_coordinator.codecs import wire
from group_coordinator.codecs.wire.schemas import APIS
from tests.conformance.language.lines import Json

TIMEOUT_S: Final = 30.0
_SIZE: Final = 4


def speaks(api: str, version: int) -> bool:
    """Whether a request of this version can be put into bytes."""
    return api in APIS and version in wire.valid_versions(api)


class RawRequest:
    """A request that was sent. The broker takes no other from its connection before it has answered."""

    def __init__(self, address: tuple[str, int], api: str, version: int, client_id: str) -> None:
        self._api = api
        self._version = version
        self._client_id = client_id
        self._received = b""
        self._socket = socket.create_connection(address, TIMEOUT_S)

    def send(self, body: Json) -> None:
        self._socket.sendall(wire.request(self._api, self._version, 1, self._client_id, body))

    def fileno(self) -> int:
        """For selectors."""
        return self._socket.fileno()

    def receive(self) -> Json | None:
        """Read what is there, at least something; the answer when that is all of it."""
        received = self._socket.recv(1 << 20)
        if not received:
            raise ConnectionError(f"the broker takes no {self._api} v{self._version} like this")
        self._received += received
        if len(self._received) < _SIZE + int.from_bytes(self._received[:_SIZE]):
            return None
        _, body = wire.response_body(self._api, self._version, self._received[_SIZE:])
        return body

    def close(self) -> None:
        self._socket.close()


def ask(
    address: tuple[str, int], api: str, version: int, body: Json, client_id: str = "coordinator"
) -> Json:
    """Send a request and wait for its answer."""
    request = RawRequest(address, api, version, client_id)
    try:
        request.send(body)
        while (answer := request.receive()) is None:
            pass
    finally:
        request.close()
    return answer
