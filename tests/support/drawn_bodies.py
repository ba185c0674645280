"""Random bodies of binary messages, from their layouts."""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from random import Random
from typing import Any

from group_coordinator.binary.layouts import FieldLayout, StructLayout

_LETTERS = 'abcXYZ019 -_./"\\\t\n\x00\x7féß€漢\U0001f600'
_LONG = 130
"""A length that needs two bytes as a varint."""


def drawn_body(random: Random, layout: StructLayout) -> dict[str, Any]:
    """A body with every field of the layout."""
    return {field.name: _field(random, field) for field in layout.fields}


def _field(random: Random, field: FieldLayout) -> Any:
    if field.nullable and random.random() < 0.3:
        return None
    if field.tag is not None and random.random() < 0.4:
        return field.whole_default()
    if field.is_array:
        return [_value(random, field) for _ in range(_count(random, field))]
    return _value(random, field)


def _count(random: Random, field: FieldLayout) -> int:
    if field.struct is None and random.random() < 0.05:
        return _LONG
    return random.choice((0, 1, 1, 2, 3))


def _value(random: Random, field: FieldLayout) -> Any:
    if field.struct is not None:
        return drawn_body(random, field.struct)
    if field.letter is not None:
        return _number(random, field)
    match field.type:
        case "string":
            return "".join(random.choices(_LETTERS, k=_size(random)))
        case "uuid":
            uuid = random.choice((bytes(16), random.randbytes(16)))
            return urlsafe_b64encode(uuid).decode().rstrip("=")
        case _:
            return b64encode(random.randbytes(_size(random))).decode()


def _number(random: Random, field: FieldLayout) -> float:
    match field.type:
        case "bool":
            return random.random() < 0.5
        case "float64":
            return random.choice((0.0, -0.5, 1e300))
        case "uint16":
            return random.choice((0, 1, 2**15, 2**16 - 1))
        case _:
            limit = 2 ** (8 * field.size - 1)
            drawn_from = (0, 1, -1, -2, limit - 1, -limit, random.randrange(-limit, limit))
            return random.choice(drawn_from)


def _size(random: Random) -> int:
    return _LONG if random.random() < 0.05 else random.randrange(9)
