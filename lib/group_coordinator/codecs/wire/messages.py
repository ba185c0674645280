"""A message of one version, bytes to a dict and back; the functions that do it are made at first use."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from group_coordinator.codecs.kafka_bytes import Data, FieldFaultError
from group_coordinator.codecs.wire.decoder_source import DECODER_NAMES, DecoderSource
from group_coordinator.codecs.wire.definitions import definitions
from group_coordinator.codecs.wire.encoder_source import ENCODER_NAMES, EncoderSource
from group_coordinator.codecs.wire.layouts import StructLayout, message_layout
from group_coordinator.codecs.wire.source import Source
from group_coordinator.codecs.wire.versions import version_range

_ENDS_TOO_EARLY = (struct.error, IndexError)
_DOES_NOT_FIT = (struct.error, TypeError, AttributeError, ValueError, OverflowError)
"""What Python says of a value that is none of its field's type: a number too large, an array that is no list ..."""


class WireError(ValueError):
    """Bytes that are not what Kafka reads, or a body that does not fit its message; the text names message, version and field."""


class _Program:
    """A compiled function for one message in one version, and how its failures are told."""

    def __init__(self, title: str, source: Source, function: str) -> None:
        self._title = title
        self._source = source
        self.run: Callable[..., Any] = source.run(function)

    def error(self, failure: Exception, why: str) -> WireError:
        fault = failure if isinstance(failure, FieldFaultError) else FieldFaultError(why)
        field = self._source.field_of(failure.__traceback__)
        return WireError(f"{self._title}: {fault.inside(field)}")


def decode(message: str, version: int, data: Data, at: int = 0) -> dict[str, Any]:
    """A message that begins at a position of the data; every field that its version has is in the dict.

    Names are Kafka's in lowerCamelCase, bytes and records are base64, uuids have 22 characters. Bytes behind the message
    are not looked at, as in Kafka.

    Raises:
        WireError: Kafka would not read it, or the message has no such version.
        KeyError: there is no such message.
    """
    return decode_at(message, version, data, at)[0]


def decode_at(message: str, version: int, data: Data, at: int) -> tuple[dict[str, Any], int]:
    """As decode, with the position behind the message."""
    program = _decoder(message, version)
    try:
        found: tuple[dict[str, Any], int] = program.run(data, at, len(data))
    except FieldFaultError as fault:
        raise program.error(fault, "") from fault
    except _ENDS_TOO_EARLY as failure:
        raise program.error(failure, "ends too early") from failure
    return found


def encode(message: str, version: int, body: Mapping[str, Any]) -> bytes:
    """The inverse of decode. A field that the body leaves out has the default of its definition; what the version does not have is left out.

    Raises:
        WireError: a value is none that its field can have, or the message has no such version.
        KeyError: there is no such message.
    """
    return bytes(encode_into(bytearray(), message, version, body))


def encode_into(out: bytearray, message: str, version: int, body: Mapping[str, Any]) -> bytearray:
    """As encode, behind what is there already."""
    program = _encoder(message, version)
    try:
        program.run(out, body)
    except FieldFaultError as fault:
        raise program.error(fault, "") from fault
    except _DOES_NOT_FIT as failure:
        raise program.error(failure, str(failure)) from failure
    return out


@cache
def _decoder(message: str, version: int) -> _Program:
    title, layout = _layout(message, version)
    source = Source(f"decoder of {title}", DECODER_NAMES)
    return _Program(title, source, DecoderSource(source).struct(layout))


@cache
def _encoder(message: str, version: int) -> _Program:
    title, layout = _layout(message, version)
    source = Source(f"encoder of {title}", ENCODER_NAMES)
    return _Program(title, source, EncoderSource(source).struct(layout))


def _layout(message: str, version: int) -> tuple[str, StructLayout]:
    definition = definitions()[message]
    if version not in version_range(definition.valid_versions):
        raise WireError(f"{message}: version {version} is not in {definition.valid_versions}")
    return f"{message} v{version}", message_layout(definition, version)
