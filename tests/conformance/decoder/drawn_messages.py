"""Messages of every record type and version, drawn from a seed: as the JSON that Kafka's own converters read."""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator
from random import Random
from typing import Any, assert_never

from group_coordinator.codecs.offsets_topic.schemas import SCHEMAS
from group_coordinator.codecs.offsets_topic.schemas.fields import (
    ArrayOf,
    Field,
    FieldType,
    Scalar,
    Struct,
    TaggedField,
)
from tests.conformance.language.lines import Json

TYPES_AND_VERSIONS = [
    (schema.record_type, version)
    for schema in SCHEMAS.values()
    for version in range(schema.highest_version + 1)
]
MESSAGES_OF_EACH = len(TYPES_AND_VERSIONS) + len(SCHEMAS)
"""One of each type and version, and a tombstone of each type."""

_BITS = {Scalar.INT8: 8, Scalar.INT16: 16, Scalar.INT32: 32, Scalar.INT64: 64}
_LETTERS = 'abcXYZ019 -_./"\\\t\n\x00\x7féß€漢\U0001f600'
_LONG = 130
"""A length that needs two bytes as a varint."""


def drawn(random: Random, record_type: int, version: int) -> Json:
    """A message of this type and version."""
    schema = SCHEMAS[record_type]
    key, value = _struct(random, schema.key, 0), _struct(random, schema.value, version)
    return {"type": record_type, "version": version, "key": key, "value": value}


def one_of_each(random: Random) -> Iterator[Json]:
    """A message of each type and version, and a tombstone of each type."""
    for record_type, version in TYPES_AND_VERSIONS:
        message = drawn(random, record_type, version)
        yield message
        if version == 0:
            yield message | {"value": None}


def _struct(random: Random, layout: Struct, version: int) -> dict[str, Any]:
    here = [field for field in layout.fields if field.is_in(version)]
    return {field.name: _field(random, field, version) for field in here if _is_said(random, field)}


def _is_said(random: Random, field: Field) -> bool:
    return not isinstance(field, TaggedField) or random.random() < 0.7


def _field(random: Random, field: Field, version: int) -> Any:
    if field.nullable and random.random() < 0.3:
        return None
    if isinstance(field, TaggedField) and random.random() < 0.2:
        return field.default
    return _value(random, field.type, version)


def _value(random: Random, type_: FieldType, version: int) -> Any:
    match type_:
        case Struct():
            return _struct(random, type_, version)
        case ArrayOf(element):
            return [_value(random, element, version) for _ in range(_count(random, element))]
        case Scalar():
            return _scalar(random, type_)
        case _:
            assert_never(type_)


def _count(random: Random, element: FieldType) -> int:
    if isinstance(element, Scalar) and random.random() < 0.05:
        return _LONG
    return random.choice((0, 1, 1, 2, 3))


def _scalar(random: Random, scalar: Scalar) -> int | str:
    match scalar:
        case Scalar.STRING:
            return "".join(random.choices(_LETTERS, k=_size(random)))
        case Scalar.BYTES:
            return b64encode(random.randbytes(_size(random))).decode()
        case Scalar.UUID:
            uuid = random.choice((bytes(16), random.randbytes(16)))
            return urlsafe_b64encode(uuid).decode().rstrip("=")
        case Scalar.UINT16:
            return random.choice((0, 1, 2**15, 2**16 - 1))
        case _:
            limit = 2 ** (_BITS[scalar] - 1)
            drawn_from = (0, 1, -1, -2, limit - 1, -limit, random.randrange(-limit, limit))
            return random.choice(drawn_from)


def _size(random: Random) -> int:
    return _LONG if random.random() < 0.05 else random.randrange(9)
