"""Writes by schema: the JSON of a message, as Kafka's own converters print and read it, becomes the bytes that Kafka writes."""

from __future__ import annotations

import struct
from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from group_coordinator.codecs.fields import LONGEST_TEXT
from group_coordinator.codecs.kafka_bytes import NULL, FieldFaultError, varint_bytes
from group_coordinator.codecs.offsets_topic.elements import NUMBERS, check_null
from group_coordinator.codecs.offsets_topic.schemas.fields import (
    ArrayOf,
    Encoding,
    Field,
    FieldType,
    Scalar,
    Struct,
    TaggedField,
)
from group_coordinator.core.uuids import uuid_bytes

_THERE = b"\x01"
"""In front of a struct that may be null."""
_NOT_THERE, _TAGGED_NOT_THERE = b"\xff", b"\x00"
"""Instead of one."""


def struct_bytes(layout: Struct, data: Mapping[str, Any], encoding: Encoding) -> bytes:
    """The fields of this version in their order; what the data has beside is left out.

    Raises:
        FieldFaultError: a field is missing, or something is too long or too large for Kafka.
    """
    here = [field for field in layout.fields if field.is_in(encoding.version)]
    written = [
        _field_bytes(field, data, encoding, _NOT_THERE)
        for field in here
        if not isinstance(field, TaggedField)
    ]
    if encoding.flexible:
        tagged = [field for field in here if isinstance(field, TaggedField)]
        written.append(_tagged_bytes(tagged, data, encoding))
    return b"".join(written)


def _tagged_bytes(fields: list[TaggedField], data: Mapping[str, Any], encoding: Encoding) -> bytes:
    """How many, then each with its tag and its size, in the order of tags; what is as the default is left out."""
    said = [field for field in fields if data.get(field.name, field.default) != field.default]
    written = [varint_bytes(len(said))]
    for field in said:
        found = _field_bytes(field, data, encoding, _TAGGED_NOT_THERE)
        written += (varint_bytes(field.tag), varint_bytes(len(found)), found)
    return b"".join(written)


def _field_bytes(
    field: Field, data: Mapping[str, Any], encoding: Encoding, not_there: bytes
) -> bytes:
    try:
        value = _said(field, data)
        if not (isinstance(field.type, Struct) and field.nullable):
            return _bytes(field.type, value, encoding)
        return not_there if value is None else _THERE + _bytes(field.type, value, encoding)
    except FieldFaultError as fault:
        raise fault.inside(field.name) from fault


def _said(field: Field, data: Mapping[str, Any]) -> Any:
    if field.name not in data:
        raise FieldFaultError("is missing")
    value = data[field.name]
    check_null(nullable=field.nullable or value is not None)
    return value


def _bytes(type_: FieldType, value: Any, encoding: Encoding) -> bytes:
    match type_:
        case Struct():
            return struct_bytes(type_, value, encoding)
        case ArrayOf(element):
            return _array_bytes(element, value, encoding)
        case Scalar():
            return _scalar_bytes(type_, value, encoding)
        case _:
            assert_never(type_)


def _array_bytes(element: FieldType, values: Sequence[Any] | None, encoding: Encoding) -> bytes:
    if values is None:
        return _length(NULL, "i", encoding)
    written = [_length(len(values), "i", encoding)]
    for index, value in enumerate(values):
        try:
            written.append(_bytes(element, value, encoding))
        except FieldFaultError as fault:
            raise fault.inside(f"[{index}]") from fault
    return b"".join(written)


def _scalar_bytes(scalar: Scalar, value: Any, encoding: Encoding) -> bytes:
    match scalar:
        case Scalar.STRING:
            return _text(value, encoding)
        case Scalar.BYTES:
            blob = b64decode(value)
            return _length(len(blob), "i", encoding) + blob
        case Scalar.UUID:
            return uuid_bytes(value)
        case _:
            return _number(value, NUMBERS[scalar])


def _text(text: str | None, encoding: Encoding) -> bytes:
    if text is None:
        return _length(NULL, "h", encoding)
    try:
        encoded = text.encode()
    except UnicodeEncodeError as fault:
        raise FieldFaultError(f"is no UTF-8: {fault.reason}") from fault
    if len(encoded) > LONGEST_TEXT:
        raise FieldFaultError(f"{len(encoded)} bytes are too long for a string")
    return _length(len(encoded), "h", encoding) + encoded


def _length(length: int, layout: str, encoding: Encoding) -> bytes:
    """A length, NULL for null; a varint is one higher, so that its null is 0."""
    return varint_bytes(length + 1) if encoding.flexible else _number(length, layout)


def _number(number: int, layout: str) -> bytes:
    try:
        return struct.pack(f">{layout}", number)
    except struct.error as fault:
        size = struct.calcsize(layout)
        raise FieldFaultError(f"{number} does not fit {size} bytes") from fault
