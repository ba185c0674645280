"""A message of one version, bytes to a dict and back; the functions that do it are made at first use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from group_coordinator.binary.elements import Data
from group_coordinator.binary.faults import READING_FAILURES, WRITING_FAILURES
from group_coordinator.binary.notation import Field, Message
from group_coordinator.binary.programs import Decoder, Encoder, Part
from group_coordinator.binary.rules import REQUESTS, RESPONSES
from group_coordinator.codecs.wire.schemas import APIS, MESSAGES

_NAMES = {api.key: api.name for api in APIS.values()}


class WireError(ValueError):
    """Bytes that are not what Kafka reads, or a body that does not fit its message; the text names message, version and field."""


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
    """Whether a message has tagged fields in a version, which may be newer than all defined versions."""
    return MESSAGES[message].is_flexible(version)


def decode(message: str, version: int, data: Data, at: int = 0) -> dict[str, Any]:
    """A message that begins at a position of the data; every field that its version has is in the dict.

    Names are Kafka's in lowerCamelCase, bytes and records are base64, uuids have 22 characters. Bytes behind the message
    are not looked at, as in Kafka.

    Raises:
        WireError: Kafka would not read it, or the message has no such version.
        KeyError: there is no such message.
    """
    return decode_at(message, version, data, at)[0]


def decode_at(
    message: str, version: int, data: Data, at: int, part: Part | None = None
) -> tuple[dict[str, Any], int]:
    """Decode a message, or a part of it, as decode; also return the position after it."""
    decoder = _decoder(message, version, part)
    try:
        return decoder.run(data, at, len(data))
    except READING_FAILURES as failure:
        around = f"{part.name}: " if part and part.is_element else ""
        raise WireError(f"{message} v{version}: {around}{decoder.fault(failure)}") from failure


def encode(message: str, version: int, body: Mapping[str, Any]) -> bytes:
    """Encode a body. Missing fields have their defaults; fields that the version does not have are left out.

    Raises:
        WireError: a value is not valid for its field, or the message has no such version.
        KeyError: there is no such message.
    """
    return bytes(encode_into(bytearray(), message, version, body))


def encode_into(
    out: bytearray,
    message: str,
    version: int,
    body: Mapping[str, Any],
    part: Part | None = None,
) -> bytearray:
    """Append a message, or a part of it, as encode."""
    encoder = _encoder(message, version, part)
    try:
        return encoder.run(out, body)
    except WRITING_FAILURES as failure:
        raise WireError(f"{message} v{version}: {encoder.fault(failure)}") from failure


@cache
def _decoder(message: str, version: int, part: Part | None) -> Decoder:
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
