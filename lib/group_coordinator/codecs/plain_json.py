"""JSON as plain dictionaries and lists."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, TypeAlias

import msgspec

JsonObject: TypeAlias = dict[str, Any]

_LONGEST_VALUE = 100

_decode_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def plain_tree(value: bytes) -> JsonObject:
    """Return the readable fields of an event; empty if it is no JSON object."""
    try:
        fields = _decode_fields(value)
    except (ValueError, RecursionError):
        return {}
    tree = {}
    for name, field in fields.items():
        with suppress(ValueError, RecursionError):
            tree[name] = msgspec.json.decode(field)
    return tree


def shortened(value: object) -> str:
    """Return the value as JSON, cut if it is long."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "..."
