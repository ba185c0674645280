"""Reads the elements of Kafka's messages, as tolerant as Kafka's own reader.

A reading function takes bytes and a position and gives the value, as Kafka's JSON has it, and the position behind it.
"""

from __future__ import annotations

import struct
from binascii import b2a_base64
from collections.abc import Callable
from typing import Any, TypeAlias

from group_coordinator.codecs.fields import LONGEST_TEXT
from group_coordinator.codecs.kafka_bytes import FieldFaultError, decoded_as_java, too_short
from group_coordinator.codecs.offsets_topic.schemas.fields import Scalar
from group_coordinator.core.uuids import uuid_text

Read: TypeAlias = Callable[[bytes, int], tuple[Any, int]]
ReadNumber: TypeAlias = Callable[[bytes, int], tuple[int, int]]

NUMBERS = {
    Scalar.INT8: "b",
    Scalar.INT16: "h",
    Scalar.UINT16: "H",
    Scalar.INT32: "i",
    Scalar.INT64: "q",
}
"""As Python's struct module calls them."""
_UUID_SIZE = 16


UNREADABLE = (FieldFaultError, struct.error, IndexError)
"""What reading functions raise; the last two where the bytes end too early."""


def number(layout: str) -> ReadNumber:
    """The reading function of a number of fixed size, in the letters of Python's struct module."""
    compiled = struct.Struct(f">{layout}")
    unpack, size = compiled.unpack_from, compiled.size

    def read(data: bytes, position: int) -> tuple[int, int]:
        return unpack(data, position)[0], position + size

    return read


def text(read_length: ReadNumber, *, nullable: bool) -> Read:
    """The reading function of a string."""

    def read(data: bytes, position: int) -> tuple[str | None, int]:
        length, start = read_length(data, position)
        if length < 0:
            check_null(nullable=nullable)
            return None, start
        if length > LONGEST_TEXT:
            raise FieldFaultError(f"{length} bytes are too long for a string")
        end = start + length
        if end > len(data):
            raise too_short(length, len(data) - start)
        encoded = data[start:end]
        try:
            return encoded.decode(), end
        except UnicodeDecodeError:
            return decoded_as_java(encoded), end

    return read


def blob(read_length: ReadNumber, *, nullable: bool) -> Read:
    """The reading function of bytes, which are base64 in JSON."""

    def read(data: bytes, position: int) -> tuple[str | None, int]:
        length, start = read_length(data, position)
        if length < 0:
            check_null(nullable=nullable)
            return None, start
        end = start + length
        if end > len(data):
            raise too_short(length, len(data) - start)
        return b2a_base64(data[start:end], newline=False).decode(), end

    return read


def uuid(data: bytes, position: int) -> tuple[str, int]:
    """Sixteen bytes, as Kafka prints them."""
    end = position + _UUID_SIZE
    if end > len(data):
        raise too_short(_UUID_SIZE, len(data) - position)
    return uuid_text(data[position:end]), end


def check_null(*, nullable: bool) -> None:
    """Whether a field may say that it is null."""
    if not nullable:
        raise FieldFaultError("is null")
