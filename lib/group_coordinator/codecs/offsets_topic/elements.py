"""Reads the elements of Kafka's messages, as tolerant as Kafka's own reader.

A reading function takes bytes and a position and gives the value, as Kafka's JSON has it, and the position behind it.
"""

from __future__ import annotations

import re
import struct
from binascii import b2a_base64
from collections.abc import Callable
from typing import Any, TypeAlias

from group_coordinator.codecs.fields import HIGHEST_INT32, LONGEST_TEXT
from group_coordinator.codecs.offsets_topic.schemas.fields import Scalar
from group_coordinator.core.uuids import uuid_text

Read: TypeAlias = Callable[[bytes, int], tuple[Any, int]]
ReadNumber: TypeAlias = Callable[[bytes, int], tuple[int, int]]

NULL = -1
"""The length of what is null; Kafka takes every negative length for it."""
NUMBERS = {
    Scalar.INT8: "b",
    Scalar.INT16: "h",
    Scalar.UINT16: "H",
    Scalar.INT32: "i",
    Scalar.INT64: "q",
}
"""As Python's struct module calls them."""
_UUID_SIZE = 16
_CONTINUED = 0x80
_LATER_SEVEN_BITS = (7, 14, 21, 28)
_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}".encode()


class FieldFaultError(Exception):
    """A field cannot be read or written: which one, and why. Of which message, its reader or writer says."""

    def __init__(self, why: str, field: str = "") -> None:
        super().__init__(f"{field}: {why}")
        self._why = why
        self._field = field

    def inside(self, outer: str) -> FieldFaultError:
        """The same fault as the field, or element, around it tells it."""
        dot = "." if self._field and not self._field.startswith("[") else ""
        return FieldFaultError(self._why, f"{outer}{dot}{self._field}")


UNREADABLE = (FieldFaultError, struct.error, IndexError)
"""What reading functions raise; the last two where the bytes end too early."""


def number(layout: str) -> ReadNumber:
    """The reading function of a number of fixed size, in the letters of Python's struct module."""
    compiled = struct.Struct(f">{layout}")
    unpack, size = compiled.unpack_from, compiled.size

    def read(data: bytes, position: int) -> tuple[int, int]:
        return unpack(data, position)[0], position + size

    return read


def varint(data: bytes, position: int) -> tuple[int, int]:
    """An unsigned number, seven bits a byte, the lowest first; of the fifth byte only four bits count, as in Kafka."""
    byte = data[position]
    if byte < _CONTINUED:
        return byte, position + 1
    found = byte & ~_CONTINUED
    for shift in _LATER_SEVEN_BITS:
        position += 1
        byte = data[position]
        found |= (byte & ~_CONTINUED) << shift
        if byte < _CONTINUED:
            return found & 0xFFFFFFFF, position + 1
    raise FieldFaultError("a varint of more than five bytes")


def compact_length(data: bytes, position: int) -> tuple[int, int]:
    """A length in a flexible version: one higher than it is. Kafka has it in a signed int, so that the highest are null."""
    found, position = varint(data, position)
    return (found - 1 if found <= HIGHEST_INT32 + 1 else NULL), position


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
            raise too_short(length, data, start)
        encoded = data[start:end]
        try:
            return encoded.decode(), end
        except UnicodeDecodeError:
            return _decoded_as_java(encoded), end

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
            raise too_short(length, data, start)
        return b2a_base64(data[start:end], newline=False).decode(), end

    return read


def uuid(data: bytes, position: int) -> tuple[str, int]:
    """Sixteen bytes, as Kafka prints them."""
    end = position + _UUID_SIZE
    if end > len(data):
        raise too_short(_UUID_SIZE, data, position)
    return uuid_text(data[position:end]), end


def check_null(*, nullable: bool) -> None:
    """Whether a field may say that it is null."""
    if not nullable:
        raise FieldFaultError("is null")


def too_short(wanted: int, data: bytes, position: int) -> FieldFaultError:
    """What to raise where fewer bytes are left than announced."""
    return FieldFaultError(f"{wanted} bytes wanted, {len(data) - position} left")


def _decoded_as_java(encoded: bytes) -> str:
    """Text that is no UTF-8: U+FFFD for what is none. Python would write three for an encoded half of a UTF-16 pair."""
    return _SURROGATE.sub(_REPLACEMENT, encoded).decode(errors="replace")
