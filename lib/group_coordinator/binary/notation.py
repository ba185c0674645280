"""The notation of messages: the fields of a struct in the order of their bytes, one line each.

    string("groupInstanceId", since=3, nullable=True, default=None)

This field is in version 3 and later of the message. It may be null, and null is its default. A plural is an array, and the fields
of a struct are in brackets: `structs("topics", since=2)[string("name"), int32s("partitions")]`. The elements of all Kafka messages
are here too: numbers and lengths of variable size, texts as Java reads them, and uuids as Kafka prints them.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypedDict, Unpack

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


ZERO_UUID = "A" * 22


def uuid_text(uuid: bytes) -> str:
    return urlsafe_b64encode(uuid).decode().rstrip("=")


def uuid_bytes(text: str) -> bytes:
    return urlsafe_b64decode(text + "==")


Number: TypeAlias = Literal["bool", "int8", "int16", "uint16", "int32", "int64", "float64"]
Type: TypeAlias = Number | Literal["string", "bytes", "records", "uuid", "struct"]


_ZEROS: Mapping[Type, Any] = {
    "bool": False,
    "bytes": "",
    "records": None,
    "string": "",
    "struct": {},
    "uuid": ZERO_UUID,
}
"""The default of each type; 0 for numbers. The default of a struct has the defaults of its fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field. `type` and `fields` of an array describe its elements.

    `until` is the last version with the field, and `nullable_since` the first version in which it may be null. `default` is the
    value in a body without the field. A tagged field is at the end of its struct, in flexible versions only. The length of a field
    that is not `compact` is never a varint.
    """

    name: str
    type: Type
    fields: tuple[Field, ...]
    is_array: bool
    since: int
    until: int | None
    nullable_since: int | None
    tag: int | None
    default: Any
    compact: bool

    def is_in(self, version: int) -> bool:
        return self.since <= version and (self.until is None or version <= self.until)


class FieldOptions(TypedDict, total=False):
    """The options of a field constructor. A `nullable` field may be null in all of its versions."""

    since: int
    until: int
    nullable: bool
    nullable_since: int
    tag: int
    default: Any
    compact: bool


@dataclass(frozen=True, slots=True)
class Message:
    """A message with its versions. Flexible versions have varint lengths and tagged fields (KIP-482)."""

    name: str
    versions: range
    flexible_since: int | None
    fields: tuple[Field, ...]

    def is_flexible(self, version: int) -> bool:
        """Return True if a version is flexible. The version may be newer than all defined versions."""
        return self.flexible_since is not None and version >= self.flexible_since


def _field(
    name: str, type_: Type, fields: tuple[Field, ...], options: FieldOptions, *, is_array: bool
) -> Field:
    since = options.get("since", 0)
    zero = [] if is_array else _ZEROS.get(type_, 0)
    return Field(
        name=name,
        type=type_,
        fields=fields,
        is_array=is_array,
        since=since,
        until=options.get("until"),
        # A `nullable` field is nullable in all of its versions.
        nullable_since=since if options.get("nullable") else options.get("nullable_since"),
        tag=options.get("tag"),
        default=options.get("default", zero),
        compact=options.get("compact", True),
    )


class _Constructor:
    def __init__(self, type_: Type, *, is_array: bool = False) -> None:
        self._type = type_
        self._is_array = is_array

    def __call__(self, name: str, **options: Unpack[FieldOptions]) -> Field:
        return _field(name, self._type, (), options, is_array=self._is_array)


class _StructConstructor:
    def __init__(self, name: str, options: FieldOptions, *, is_array: bool) -> None:
        self._name = name
        self._options = options
        self._is_array = is_array

    def __getitem__(self, fields: Field | tuple[Field, ...]) -> Field:
        given = (fields,) if isinstance(fields, Field) else fields
        return _field(self._name, "struct", given, self._options, is_array=self._is_array)


def struct(name: str, **options: Unpack[FieldOptions]) -> _StructConstructor:
    """Define a field that is a struct; its fields follow in brackets."""
    return _StructConstructor(name, options, is_array=False)


def structs(name: str, **options: Unpack[FieldOptions]) -> _StructConstructor:
    """Define a field that is an array of structs; their fields follow in brackets."""
    return _StructConstructor(name, options, is_array=True)


boolean = _Constructor("bool")
int8 = _Constructor("int8")
int16 = _Constructor("int16")
uint16 = _Constructor("uint16")
int32 = _Constructor("int32")
int64 = _Constructor("int64")
float64 = _Constructor("float64")
string = _Constructor("string")
blob = _Constructor("bytes")
records = _Constructor("records")
uuid = _Constructor("uuid")
int8s = _Constructor("int8", is_array=True)
int16s = _Constructor("int16", is_array=True)
int32s = _Constructor("int32", is_array=True)
int64s = _Constructor("int64", is_array=True)
strings = _Constructor("string", is_array=True)
