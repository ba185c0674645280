"""Any request to a Kafka broker, with Kafka's own field names, as bytes on a connection of its own."""

from __future__ import annotations

import re
import socket
from base64 import b64decode, b64encode, urlsafe_b64decode, urlsafe_b64encode
from types import ModuleType
from typing import Any, Final
from uuid import UUID

from kafka.protocol import admin, consumer, metadata, producer

from tests.conformance.language.lines import Json
from tests.support import kip848_messages, newer_messages

TIMEOUT_S: Final = 10.0
_SIZE: Final = 4
_NULLS: Final = {"authorized_operations": -(2**31)}
"""What kafka-python takes for null."""
_MODULES: Final[tuple[ModuleType, ...]] = (
    newer_messages,
    consumer,
    admin,
    metadata,
    producer,
    kip848_messages,
)
"""The first that has a message counts."""


def speaks(api: str, version: int) -> bool:
    """Whether a request of this version can be put into bytes."""
    message = message_class(f"{api}Request")
    if message is None:
        return False
    first, last = message.valid_versions
    return bool(first <= version <= last)


class RawRequest:
    """A request that was sent. The broker takes no other from its connection before it has answered."""

    def __init__(self, address: tuple[str, int], api: str, version: int, client_id: str) -> None:
        self._api = api
        self._version = version
        self._client_id = client_id
        self._received = b""
        self._socket = socket.create_connection(address, TIMEOUT_S)

    def send(self, body: Json) -> None:
        message = message_class(f"{self._api}Request")
        request = message(version=self._version, **_fields(message, body, self._version))
        request.with_header(correlation_id=1, client_id=self._client_id)
        self._socket.sendall(request.encode(header=True, framed=True))

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
        return decoded(f"{self._api}Response", self._version, self._received)

    def close(self) -> None:
        self._socket.close()


def ask(address: tuple[str, int], api: str, version: int, body: Json) -> Json:
    """Send a request and wait for its answer."""
    request = RawRequest(address, api, version, "coordinator")
    try:
        request.send(body)
        while (answer := request.receive()) is None:
            pass
    finally:
        request.close()
    return answer


def decoded(name: str, version: int, frame: bytes) -> Json:
    """Read a message, its size and its header before it, with Kafka's own field names."""
    read = message_class(name).decode(frame, version=version, header=True, framed=True)
    told: Json = _told(read.to_dict(json=False))
    return told


def message_class(name: str) -> Any:
    """The class of "JoinGroupRequest"; None where there is none."""
    found = (getattr(module, name) for module in _MODULES if hasattr(module, name))
    return next(found, None)


def _fields(message: Any, body: Json, version: int) -> dict[str, Any]:
    """The fields of a message or of a struct in it, under the names that they have in kafka-python."""
    return {_snake(name): _field(message, _snake(name), body[name], version) for name in body}


def _field(message: Any, name: str, value: Any, version: int) -> Any:
    field = message.fields[name]
    if field.is_struct_array() and value is not None:
        struct = field.data_class
        return [struct(version=version, **_fields(struct, one, version)) for one in value]
    match field.type_str:
        case "bytes" if value is not None:
            return b64decode(value)
        case "uuid":
            return UUID(bytes=urlsafe_b64decode(value + "=="))
        case _:
            return value


def _told(value: Any) -> Any:
    """What kafka-python has read, as Kafka's own converters print it."""
    match value:
        case dict():
            return {
                _camel(name): _told(_NULLS.get(name, one) if one is None else one)
                for name, one in value.items()
            }
        case list():
            return [_told(one) for one in value]
        case _:
            return _told_leaf(value)


def _told_leaf(value: Any) -> Any:
    match value:
        case bytes() | memoryview():
            return b64encode(value).decode()
        case UUID():
            return urlsafe_b64encode(value.bytes).decode().rstrip("=")
        case set():
            return sum(1 << bit for bit in value)
        case _:
            return value


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
