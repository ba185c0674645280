"""Requests and responses of a version with their headers, bytes to a dict and back. Codecs are compiled at first use."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from group_coordinator.binary.layouts import REQUESTS, RESPONSES
from group_coordinator.binary.notation import Data, Field, Message
from group_coordinator.binary.programs import (
    READING_FAILURES,
    WRITING_FAILURES,
    Decoder,
    Encoder,
    Part,
)
from group_coordinator.codecs.wire.schemas import APIS, MESSAGES

_NAMES = {api.key: api.name for api in APIS.values()}


class WireError(ValueError):
    """Bytes that Kafka cannot read, or a body that does not fit its message. The text has message, version and field."""


def fields(message: str, version: int) -> Iterator[Field]:
    """Yield the definitions of the outermost fields. Raises KeyError if there is no such message."""
    return (field for field in MESSAGES[message].fields if field.is_in(version))


def api_name(key: int) -> str | None:
    """Return the name of an API key, "Metadata" for 3; None if the key is not defined."""
    return _NAMES.get(key)


def api_key(name: str) -> int:
    """Return the key of an API name. Raises KeyError if the name is not defined."""
    return APIS[name].key


def valid_versions(api: str) -> range:
    """Return all versions that Kafka 4.4.0 defines, even if brokers do not offer the newest yet (InitProducerId 6)."""
    return APIS[api].versions


def is_flexible(message: str, version: int) -> bool:
    """Return True if a message has tagged fields in a version. The version may be newer than all defined versions."""
    return MESSAGES[message].is_flexible(version)


def decode(message: str, version: int, data: Data, at: int = 0) -> dict[str, Any]:
    """Decode a message that begins at a position of the data. The dict has every field of the version.

    Names are Kafka's in lowerCamelCase, bytes and records are base64, uuids have 22 characters. Bytes after the message are
    ignored, as in Kafka.
    Raises WireError: Kafka would not read it, or the message has no such version.
    Raises KeyError: there is no such message.
    """
    return decode_at(message, version, data, at)[0]


def decode_at(
    message: str, version: int, data: Data, at: int, part: Part | None = None
) -> tuple[dict[str, Any], int]:
    """Decode a message, or a part of it, like decode. Also return the position after it."""
    decoder = _decoder(message, version, part)
    try:
        return decoder.run(data, at, len(data))
    except READING_FAILURES as failure:
        around = f"{part.name}: " if part and part.is_element else ""
        raise WireError(f"{message} v{version}: {around}{decoder.fault(failure)}") from failure


def encode(message: str, version: int, body: Mapping[str, Any]) -> bytes:
    """Encode a body. Missing fields have their defaults; fields that the version does not have are left out.

    Raises WireError: a value is not valid for its field, or the message has no such version.
    Raises KeyError: there is no such message.
    """
    return bytes(encode_into(bytearray(), message, version, body))


def encode_into(
    out: bytearray, message: str, version: int, body: Mapping[str, Any], part: Part | None = None
) -> bytearray:
    """Append a message, or a part of it, like encode."""
    encoder = _encoder(message, version, part)
    try:
        return encoder.run(out, body)
    except WRITING_FAILURES as failure:
        raise WireError(f"{message} v{version}: {encoder.fault(failure)}") from failure


@cache
def _decoder(message: str, version: int, part: Part | None) -> Decoder:
    # Clients choose the content of requests; responses come from brokers.
    rules = REQUESTS if message.endswith("Request") else RESPONSES
    return Decoder(_defined(message, version), version, rules, part)


@cache
def _encoder(message: str, version: int, part: Part | None) -> Encoder:
    return Encoder(_defined(message, version), version, RESPONSES, part)


def _defined(name: str, version: int) -> Message:
    message = MESSAGES[name]
    versions = message.versions
    if version not in versions:
        raise WireError(f"{name}: version {version} is not in {versions[0]}-{versions[-1]}")
    return message


_SIZE = struct.Struct(">i")
_API = struct.Struct(">hh")


class RequestHeader(NamedTuple):
    """The header of a request. `body_at` is the position of the body in the frame. Kafka reads a null client id as empty."""

    api_key: int
    version: int
    correlation_id: int
    client_id: str | None
    body_at: int


def request_header(frame: Data) -> RequestHeader:
    """Decode the header of a request. The version may be unknown, since every ApiVersions needs a response.

    Raises WireError: the header cannot be read, or its API is not defined.
    """
    if len(frame) < _API.size:
        raise WireError(f"RequestHeader: {len(frame)} bytes are no request")
    key, version = _API.unpack_from(frame)
    # The API decides about the version of the header itself.
    api = api_name(key)
    if api is None:
        raise WireError(f"RequestHeader: requestApiKey: {key} is unknown")
    header, body_at = decode_at("RequestHeader", _request_header_version(api, version), frame, 0)
    return RequestHeader(key, version, header["correlationId"], header["clientId"], body_at)


def request(
    api: str, version: int, correlation_id: int, client_id: str | None, body: Mapping[str, Any]
) -> bytes:
    """Encode a request with its size, header and body. Raises WireError like encode."""
    header = {
        "requestApiKey": api_key(api),
        "requestApiVersion": version,
        "correlationId": correlation_id,
        "clientId": client_id,
    }
    out = bytearray(_SIZE.size)
    encode_into(out, "RequestHeader", _request_header_version(api, version), header)
    return _sized(encode_into(out, f"{api}Request", version, body))


def response(api: str, version: int, correlation_id: int, body: Mapping[str, Any]) -> bytes:
    """Encode a response with its size, header and body. Raises WireError like encode."""
    out = bytearray(_SIZE.size)
    header = {"correlationId": correlation_id}
    encode_into(out, "ResponseHeader", _response_header_version(api, version), header)
    return _sized(encode_into(out, f"{api}Response", version, body))


def request_body(frame: Data) -> dict[str, Any]:
    """Decode the body of a request. Raises WireError like request_header and decode."""
    header = request_header(frame)
    return decode(f"{api_name(header.api_key)}Request", header.version, frame, header.body_at)


def response_body(api: str, version: int, frame: Data) -> tuple[int, dict[str, Any]]:
    """Decode the correlation id and the body of a response to a request of this API and version. Raises WireError like decode."""
    header_version = _response_header_version(api, version)
    header, body_at = decode_at("ResponseHeader", header_version, frame, 0)
    return header["correlationId"], decode(f"{api}Response", version, frame, body_at)


class ResponseOpening:
    """The header of a response and its fields before a given field. If that field is an array, `fields` has its number of elements.

    `end` is the position after it in the frame.
    """

    def __init__(self, api: str, version: int, before: str, frame: Data, at: int = 0) -> None:
        """Decode from a position of the frame. Raises WireError like decode."""
        self._message, self._version, self._part = f"{api}Response", version, Part(before)
        self._header_version = _response_header_version(api, version)
        self._header, at = decode_at("ResponseHeader", self._header_version, frame, at)
        self.fields, self.end = decode_at(self._message, version, frame, at, self._part)

    def followed_by(self, *rest: Data) -> bytes:
        """Encode the response, its size first. Raises WireError like encode."""
        out = bytearray(_SIZE.size)
        encode_into(out, "ResponseHeader", self._header_version, self._header)
        encode_into(out, self._message, self._version, self.fields, self._part)
        for piece in rest:
            out += piece
        return _sized(out)


def response_elements(
    api: str, version: int, array: str, frame: Data
) -> tuple[dict[str, Any], Iterator[dict[str, Any]]]:
    """Decode the fields of a response before an array, then its elements. Elements are decoded lazily, to save memory.

    Raises WireError: see decode; for an element when the iterator reaches it.
    """
    opening = ResponseOpening(api, version, array, frame)
    return opening.fields, _elements(api, version, array, frame, opening)


def _elements(
    api: str, version: int, array: str, frame: Data, opening: ResponseOpening
) -> Iterator[dict[str, Any]]:
    at, element = opening.end, Part(array, is_element=True)
    for _ in range(opening.fields[array]):
        found, at = decode_at(f"{api}Response", version, frame, at, element)
        yield found


def _request_header_version(api: str, version: int) -> int:
    return 2 if is_flexible(f"{api}Request", version) else 1


def _response_header_version(api: str, version: int) -> int:
    # A client newer than the broker must be able to read the response to its ApiVersions: no tags
    # ever (KIP-511).
    return 1 if api != "ApiVersions" and is_flexible(f"{api}Response", version) else 0


def _sized(out: bytearray) -> bytes:
    _SIZE.pack_into(out, 0, len(out) - _SIZE.size)
    return bytes(out)
