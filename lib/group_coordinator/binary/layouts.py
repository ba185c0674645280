"""The layout of a version of a message: its fields in the order of their bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Literal

from group_coordinator.binary.notation import Field, Message, Type

NUMBERS: dict[str, str] = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "int64": "q",
    "float64": "d",
}
"""Format characters of Python's struct module. Kafka's numbers are big-endian."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldLayout:
    """A field in a version. `type` and `struct` of an array describe its elements. A `count` is only the number of elements."""

    name: str
    type: Type | Literal["count"]
    struct: StructLayout | None
    is_array: bool
    nullable: bool
    compact: bool
    tag: int | None
    default: Any

    @property
    def letter(self) -> str | None:
        """The format character of a number, or of the numbers in an array; None for other types."""
        return NUMBERS.get(self.type)

    @property
    def size(self) -> int:
        """The size of a number in bytes."""
        return struct.calcsize(f">{NUMBERS[self.type]}")

    @property
    def is_number(self) -> bool:
        """True for a single number, False for an array of numbers."""
        return not self.is_array and self.type in NUMBERS

    @property
    def length_letter(self) -> str:
        """The format character of the length, if the length is not compact."""
        return "h" if self.type == "string" and not self.is_array else "i"

    def whole_default(self) -> Any:
        """The default; for a struct, a dict with the defaults of all its fields."""
        return self.struct.defaults() if self.struct and self.default == {} else self.default


@dataclass(frozen=True, slots=True)
class StructLayout:
    """A struct in a version. A flexible struct ends with its tagged fields, even with none."""

    plain: tuple[FieldLayout, ...]
    tagged: tuple[FieldLayout, ...]
    tags_of_other_versions: tuple[int, ...]
    flexible: bool

    @property
    def fields(self) -> tuple[FieldLayout, ...]:
        """All fields; tagged fields are last."""
        return (*self.plain, *self.tagged)

    def runs(self) -> Iterator[tuple[FieldLayout, ...]]:
        """Yield the plain fields: consecutive numbers as a group, any other field alone."""
        for is_number, fields in groupby(self.plain, key=lambda field: field.is_number):
            if is_number:
                yield tuple(fields)
            else:
                yield from ((field,) for field in fields)

    def before(self, name: str) -> StructLayout:
        """Return the plain fields before a field. If that field is an array, its number of elements is the last field."""
        at = [field.name for field in self.plain].index(name)
        field = self.plain[at]
        count = (replace(field, type="count", struct=None, is_array=False),)
        first = (*self.plain[:at], *(count if field.is_array else ()))
        return StructLayout(plain=first, tagged=(), tags_of_other_versions=(), flexible=False)

    def element_of(self, array: str) -> StructLayout:
        """Return the layout of the structs in an array."""
        # The struct of the array is known by its name only.
        [element] = (field.struct for field in self.plain if field.name == array)
        if element is None:
            raise TypeError(f"{array} has no structs")
        return element

    def defaults(self) -> dict[str, Any]:
        """Return a body in which every field has its default."""
        return {field.name: field.whole_default() for field in self.fields}


def message_layout(message: Message, version: int) -> StructLayout:
    """Return the layout of a version of a message."""
    return _struct(message.fields, version, flexible=message.is_flexible(version))


def _struct(fields: tuple[Field, ...], version: int, *, flexible: bool) -> StructLayout:
    here = [_field(field, version, flexible=flexible) for field in fields if field.is_in(version)]
    tagged = {field.tag: field for field in here if field.tag is not None}
    return StructLayout(
        plain=tuple(field for field in here if field.tag is None),
        # Kafka rejects a known tag in a version that does not have it.
        tagged=tuple(tagged[tag] for tag in sorted(tagged)),
        tags_of_other_versions=tuple(
            field.tag for field in fields if field.tag is not None and field.tag not in tagged
        ),
        flexible=flexible,
    )


def _field(field: Field, version: int, *, flexible: bool) -> FieldLayout:
    is_struct = field.type == "struct"
    return FieldLayout(
        name=field.name,
        type=field.type,
        struct=_struct(field.fields, version, flexible=flexible) if is_struct else None,
        is_array=field.is_array,
        nullable=field.nullable_since is not None and field.nullable_since <= version,
        compact=flexible and field.compact,
        tag=field.tag,
        default=field.default,
    )
