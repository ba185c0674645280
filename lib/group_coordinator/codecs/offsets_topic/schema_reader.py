"""Turns schemas into reading functions, once for each version: plain values as Kafka's own JSON converters print them.

They read what Kafka's own reader reads, also where Kafka itself writes otherwise: nothing looks at bytes behind the last
field nor at the size of a known tagged field, and of equal tags the last one counts. Unknown tagged fields are skipped.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, TypeAlias, assert_never

from group_coordinator.codecs.fields import HIGHEST_INT32
from group_coordinator.codecs.kafka_bytes import (
    FieldFaultError,
    compact_length,
    too_short,
    varint,
)
from group_coordinator.codecs.offsets_topic.elements import (
    NUMBERS,
    UNREADABLE,
    Read,
    blob,
    check_null,
    number,
    text,
    uuid,
)
from group_coordinator.codecs.offsets_topic.schemas.fields import (
    ArrayOf,
    Encoding,
    FieldType,
    Scalar,
    Struct,
    TaggedField,
)

_ReadTagged: TypeAlias = Callable[[dict[str, Any], bytes, int], int]
"""Adds the tagged fields of a struct to its dictionary and gives the position behind them."""
_ReadElements: TypeAlias = Callable[[bytes, int, int], tuple[list[Any], int]]
"""Takes the number of elements too."""
_IsNull: TypeAlias = Callable[[bytes, int], tuple[bool, int]]

_read_int8, _read_int16, _read_int32 = number("b"), number("h"), number("i")


def struct_reader(layout: Struct, encoding: Encoding) -> Read:
    """The reading function of a struct: a dictionary of the fields that the version has. It raises one of UNREADABLE."""
    here = [field for field in layout.fields if field.is_in(encoding.version)]
    tagged = [field for field in here if isinstance(field, TaggedField)]
    plain = [
        (field.name, _reader(field.type, encoding, _is_null, nullable=field.nullable))
        for field in here
        if not isinstance(field, TaggedField)
    ]
    read_tagged = _tagged_reader(tagged, encoding) if encoding.flexible else None

    def read(data: bytes, position: int) -> tuple[dict[str, Any], int]:
        found: dict[str, Any] = {}
        for name, read_field in plain:
            try:
                found[name], position = read_field(data, position)
            except UNREADABLE as fault:
                raise _inside(name, fault, data, position) from fault
        if read_tagged is not None:
            position = read_tagged(found, data, position)
        return found, position

    return read


def _tagged_reader(fields: list[TaggedField], encoding: Encoding) -> _ReadTagged:
    known = {
        field.tag: (
            field.name,
            _reader(field.type, encoding, _tagged_is_null, nullable=field.nullable),
        )
        for field in fields
    }

    def read(found: dict[str, Any], data: bytes, position: int) -> int:
        values: dict[str, Any] = {}
        name = "count of tagged fields"
        try:
            count, position = varint(data, position)
            for _ in range(count):
                name = "tag"
                tag, position = varint(data, position)
                name = "size of a tagged field"
                size, position = varint(data, position)
                name, read_field = known.get(tag) or ("unknown tagged field", _skipper(size))
                values[name], position = read_field(data, position)
        except UNREADABLE as fault:
            raise _inside(name, fault, data, position) from fault
        for field in fields:
            value = values.get(field.name, field.default)
            if value != field.default:
                found[field.name] = value
        return position

    return read


def _skipper(size: int) -> Read:
    def skip(data: bytes, position: int) -> tuple[None, int]:
        if size > len(data) - position:
            raise too_short(size, len(data) - position)
        return None, position + size

    return skip


def _inside(name: str, fault: Exception, data: bytes, position: int) -> FieldFaultError:
    if isinstance(fault, FieldFaultError):
        return fault.inside(name)
    return FieldFaultError(f"ends too early, {len(data) - position} bytes left", name)


def _reader(type_: FieldType, encoding: Encoding, is_null: _IsNull, *, nullable: bool) -> Read:
    match type_:
        case Struct():
            read = struct_reader(type_, encoding)
            return _nullable_reader(read, is_null) if nullable else read
        case ArrayOf(element):
            return _array_reader(element, encoding, nullable=nullable)
        case Scalar():
            return _scalar_reader(type_, encoding, nullable=nullable)
        case _:
            assert_never(type_)


def _scalar_reader(scalar: Scalar, encoding: Encoding, *, nullable: bool) -> Read:
    match scalar:
        case Scalar.STRING:
            return text(compact_length if encoding.flexible else _read_int16, nullable=nullable)
        case Scalar.BYTES:
            return blob(compact_length if encoding.flexible else _read_int32, nullable=nullable)
        case Scalar.UUID:
            return uuid
        case _:
            return number(NUMBERS[scalar])


def _nullable_reader(read_struct: Read, is_null: _IsNull) -> Read:
    def read(data: bytes, position: int) -> tuple[dict[str, Any] | None, int]:
        nothing, position = is_null(data, position)
        return (None, position) if nothing else read_struct(data, position)

    return read


def _is_null(data: bytes, position: int) -> tuple[bool, int]:
    """A byte in front of a struct says whether there is one."""
    found, position = _read_int8(data, position)
    return found < 0, position


def _tagged_is_null(data: bytes, position: int) -> tuple[bool, int]:
    """In a tagged field, a varint does."""
    found, position = varint(data, position)
    return not 0 < found <= HIGHEST_INT32, position


def _array_reader(element: FieldType, encoding: Encoding, *, nullable: bool) -> Read:
    read_count = compact_length if encoding.flexible else _read_int32
    read_elements = (
        _numbers_reader(NUMBERS[element])
        if isinstance(element, Scalar) and element in NUMBERS
        else _elements_reader(_reader(element, encoding, _is_null, nullable=False))
    )

    def read(data: bytes, position: int) -> tuple[list[Any] | None, int]:
        count, position = read_count(data, position)
        if count < 0:
            check_null(nullable=nullable)
            return None, position
        # No element is smaller than a byte: a damaged count must not make us work for nothing.
        if count > len(data) - position:
            raise FieldFaultError(f"{count} elements in {len(data) - position} bytes")
        return read_elements(data, position, count)

    return read


def _numbers_reader(layout: str) -> _ReadElements:
    def read(data: bytes, position: int, count: int) -> tuple[list[int], int]:
        elements = struct.Struct(f">{count}{layout}")
        return list(elements.unpack_from(data, position)), position + elements.size

    return read


def _elements_reader(read_element: Read) -> _ReadElements:
    def read(data: bytes, position: int, count: int) -> tuple[list[Any], int]:
        elements = []
        for index in range(count):
            try:
                element, position = read_element(data, position)
            except UNREADABLE as fault:
                raise _inside(f"[{index}]", fault, data, position) from fault
            elements.append(element)
        return elements, position

    return read
