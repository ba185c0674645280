"""The elements that all of Kafka's messages are made of: numbers and lengths of variable size, and texts as Java reads them.

Whoever reads or writes a message says of a fault which field it is (FieldFaultError.inside).
"""

from __future__ import annotations

import re
from typing import TypeAlias

Data: TypeAlias = bytes | bytearray | memoryview

HIGHEST_INT32 = 2**31 - 1
LONGEST_TEXT = 2**15 - 1
"""The length of a string is an int16."""

NULL = -1
"""The length of what is null; Kafka takes every negative length for it."""
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


def varint(data: Data, position: int) -> tuple[int, int]:
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


def varint_bytes(number: int) -> bytes:
    """The inverse of varint."""
    encoded = bytearray()
    while number >= _CONTINUED:
        encoded.append(number % _CONTINUED | _CONTINUED)
        number //= _CONTINUED
    encoded.append(number)
    return bytes(encoded)


def compact_length(data: Data, position: int) -> tuple[int, int]:
    """A length in a flexible version: one higher than it is. Kafka has it in a signed int, so that the highest are null."""
    found, position = varint(data, position)
    return (found - 1 if found <= HIGHEST_INT32 + 1 else NULL), position


def decoded_as_java(encoded: bytes) -> str:
    """Text that is no UTF-8: U+FFFD for what is none. Python would write three for an encoded half of a UTF-16 pair."""
    return _SURROGATE.sub(_REPLACEMENT, encoded).decode(errors="replace")


def too_short(wanted: int, left: int) -> FieldFaultError:
    """What to raise where fewer bytes are left than announced."""
    return FieldFaultError(f"{wanted} bytes wanted, {left} left")


def too_long(length: int) -> FieldFaultError:
    """Return the error for a text whose length does not fit Kafka's int16."""
    return FieldFaultError(f"{length} bytes are too long for a string")
