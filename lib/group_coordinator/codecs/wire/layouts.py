"""What a message has in one version: its fields in the order of the wire, with nothing left that depends on a version."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from group_coordinator.codecs.uuids import ZERO_UUID
from group_coordinator.codecs.wire.definitions import FieldDefinition, MessageDefinition
from group_coordinator.codecs.wire.versions import version_range

NUMBERS = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "int64": "q",
    "float64": "d",
}
"""As Python's struct module calls them."""
_ARRAY = "[]"
_Fields = tuple[FieldDefinition, ...]


@dataclass(frozen=True, slots=True)
class FieldLayout:
    """A field in one version; of an array, type and struct are those of its elements."""

    name: str
    type: str
    struct: StructLayout | None
    is_array: bool
    nullable: bool
    flexible: bool
    tag: int | None
    default: Any

    @property
    def number(self) -> str | None:
        """The letter of a single number, which has a fixed size."""
        return None if self.is_array else NUMBERS.get(self.type)

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

    def runs(self) -> Iterator[list[FieldLayout]]:
        """The fields that are not tagged: numbers behind each other together, any other field alone."""
        for is_number, fields in groupby(self.plain, key=lambda field: field.number is not None):
            if is_number:
                yield list(fields)
            else:
                yield from ([field] for field in fields)

    def defaults(self) -> dict[str, Any]:
        """The body in which every field has its default."""
        return {field.name: field.whole_default() for field in self.fields}


def message_layout(definition: MessageDefinition, version: int) -> StructLayout:
    """The layout of a message in one of its valid versions."""
    common = {struct.name: struct.fields for struct in definition.common_structs}
    flexible = version in version_range(definition.flexible_versions)
    return _Layouts(version, common, flexible=flexible).struct(definition.fields)


class _Layouts:
    def __init__(self, version: int, common: Mapping[str, _Fields], *, flexible: bool) -> None:
        self._version = version
        self._common = common
        self._flexible = flexible

    def struct(self, definitions: _Fields) -> StructLayout:
        here = [
            self._field(field)
            for field in definitions
            if self._version in version_range(field.versions)
        ]
        tagged = {field.tag: field for field in here if field.tag is not None}
        return StructLayout(
            plain=tuple(field for field in here if field.tag is None),
            tagged=tuple(tagged[tag] for tag in sorted(tagged)),
            tags_of_other_versions=tuple(
                field.tag
                for field in definitions
                if field.tag is not None and field.tag not in tagged
            ),
            flexible=self._flexible,
        )

    def _field(self, field: FieldDefinition) -> FieldLayout:
        is_tagged = self._flexible and self._version in version_range(field.tagged_versions)
        type_ = field.type.removeprefix(_ARRAY)
        return FieldLayout(
            # Kafka's JSON writes names so.
            name=field.name[0].lower() + field.name[1:],
            type=type_,
            struct=self.struct(field.fields or self._common[type_]) if type_[0].isupper() else None,
            is_array=field.type.startswith(_ARRAY),
            nullable=self._version in version_range(field.nullable_versions),
            # The client id in a request's header is never flexible.
            flexible=self._flexible and field.flexible_versions != "none",
            tag=field.tag if is_tagged else None,
            default=_default(field),
        )


def _default(field: FieldDefinition) -> Any:
    """The value of a field that a body leaves out; definitions say numbers as texts, and null as "null"."""
    if field.default == "null" or field.type == "records":
        return None
    if field.type.startswith(_ARRAY):
        return []
    if field.type in NUMBERS:
        return _default_number(field)
    return {"string": field.default or "", "bytes": "", "uuid": ZERO_UUID}.get(field.type, {})


def _default_number(field: FieldDefinition) -> float:
    if field.type == "bool":
        return field.default in {True, "true"}
    if field.type == "float64":
        return float(field.default or 0)
    return int(str(field.default or 0), base=0)
