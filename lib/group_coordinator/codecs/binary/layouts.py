"""What a message has in one version: its fields in the order of their bytes, with nothing left that depends on a version."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from group_coordinator.codecs.binary.notation import Field, Message, Type

NUMBERS: dict[Type, str] = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "int64": "q",
    "float64": "d",
}
"""As Python's struct module calls them; Kafka's are big-endian."""


@dataclass(frozen=True, slots=True)
class FieldLayout:
    """A field in one version; of an array, type and struct are those of its elements."""

    name: str
    type: Type
    struct: StructLayout | None
    is_array: bool
    nullable: bool
    compact: bool
    tag: int | None
    default: Any

    @property
    def letter(self) -> str | None:
        """The letter of a number, which has a fixed size, or of the numbers in an array."""
        return NUMBERS.get(self.type)

    @property
    def size(self) -> int:
        """The bytes of a number."""
        return struct.calcsize(f">{NUMBERS[self.type]}")

    @property
    def is_number(self) -> bool:
        """Whether it is a number by itself."""
        return not self.is_array and self.type in NUMBERS

    @property
    def length_letter(self) -> str:
        """The letter of its length where that is not compact."""
        return "h" if self.type == "string" and not self.is_array else "i"

    def whole_default(self) -> Any:
        """The default, of a struct with all its fields."""
        return self.struct.defaults() if self.struct and self.default == {} else self.default


@dataclass(frozen=True, slots=True)
class StructLayout:
    """A struct in one version; a flexible one ends with tagged fields, be there none."""

    plain: tuple[FieldLayout, ...]
    tagged: tuple[FieldLayout, ...]
    tags_of_other_versions: tuple[int, ...]
    flexible: bool

    @property
    def fields(self) -> tuple[FieldLayout, ...]:
        """All of them, the tagged ones behind."""
        return (*self.plain, *self.tagged)

    def runs(self) -> Iterator[tuple[FieldLayout, ...]]:
        """The fields that are not tagged: numbers behind each other together, any other field alone."""
        for is_number, fields in groupby(self.plain, key=lambda field: field.is_number):
            if is_number:
                yield tuple(fields)
            else:
                yield from ((field,) for field in fields)

    def defaults(self) -> dict[str, Any]:
        """The body in which every field has its default."""
        return {field.name: field.whole_default() for field in self.fields}


def message_layout(message: Message, version: int) -> StructLayout:
    """The layout of a message in one of its versions."""
    return _struct(message.fields, version, flexible=message.is_flexible(version))


def _struct(fields: tuple[Field, ...], version: int, *, flexible: bool) -> StructLayout:
    here = [_field(field, version, flexible=flexible) for field in fields if field.is_in(version)]
    tagged = {field.tag: field for field in here if field.tag is not None}
    return StructLayout(
        plain=tuple(field for field in here if field.tag is None),
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
