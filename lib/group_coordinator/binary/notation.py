"""The notation of messages: the fields of a struct in the order of their bytes, one line each.

    string("groupInstanceId", since=3, nullable=True, default=None)

This field is in version 3 and later. It may be null, and null is its default. A plural is an array:
`int32s("partitions")`. The fields of a struct are in brackets: `structs("topics", since=2)[string("name"), int32s("partitions")]`.
All versions are versions of the message. Without `since` and `until` a field is in all versions of its struct.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypedDict, Unpack

from group_coordinator.binary.uuids import ZERO_UUID

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
        """Return True if the version has the field."""
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
