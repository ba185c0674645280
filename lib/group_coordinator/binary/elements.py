"""The elements of all Kafka messages: numbers and lengths of variable size, and texts as Java reads them.

A FieldFaultError gets the names of the outer fields from the reader or writer of the message (FieldFaultError.inside).
"""

from __future__ import annotations

import re
from typing import TypeAlias

Data: TypeAlias = bytes | bytearray | memoryview

HIGHEST_INT32 = 2**31 - 1
LONGEST_TEXT = 2**15 - 1
"""The largest length of a string, an int16."""

NULL = -1
"""The length of a null value. Kafka reads every negative length as null."""
_CONTINUED = 0x80
_LATER_SEVEN_BITS = (7, 14, 21, 28)
_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}".encode()


class FieldFaultError(Exception):
    """A field that cannot be read or written: its name and the reason. The reader or writer adds the name of the message."""

    def __init__(self, why: str, field: str = "") -> None:
        super().__init__(f"{field}: {why}")
        self._why = why
        self._field = field

    def inside(self, outer: str) -> FieldFaultError:
        """Return the same fault with the name of the outer field or element."""
        dot = "." if self._field and not self._field.startswith("[") else ""
        return FieldFaultError(self._why, f"{outer}{dot}{self._field}")


def varint(data: Data, position: int) -> tuple[int, int]:
    """Decode an unsigned number: seven bits a byte, the lowest first. Four bits of the fifth byte are used, as in Kafka."""
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
    """Encode a number for varint."""
    encoded = bytearray()
    while number >= _CONTINUED:
        encoded.append(number % _CONTINUED | _CONTINUED)
        number //= _CONTINUED
    encoded.append(number)
    return bytes(encoded)


def compact_length(data: Data, position: int) -> tuple[int, int]:
    """Decode a length in a flexible version, where it is written plus 1. Kafka's int is signed, so the highest lengths are null."""
    found, position = varint(data, position)
    return (found - 1 if found <= HIGHEST_INT32 + 1 else NULL), position


def decoded_as_java(encoded: bytes) -> str:
    """Decode text, with U+FFFD for bytes that are not UTF-8."""
    # Python would write three U+FFFD for an encoded half of a UTF-16 pair, Java writes one.
    return _SURROGATE.sub(_REPLACEMENT, encoded).decode(errors="replace")


def too_short(wanted: int, left: int) -> FieldFaultError:
    """Return the error for fewer remaining bytes than announced."""
    return FieldFaultError(f"{wanted} bytes wanted, {left} left")


def too_long(length: int) -> FieldFaultError:
    """Return the error for a text whose length does not fit Kafka's int16."""
    return FieldFaultError(f"{length} bytes are too long for a string")
