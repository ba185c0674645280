"""What a JSON reader lets pass and Kafka does not: keys that are there twice, texts that are too long."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from group_coordinator.codecs.field_errors import FieldError
from group_coordinator.codecs.fields import LONGEST_TEXT
from group_coordinator.codecs.plain_json import plain_tree, shortened

_COLON = ord(":")
_BACKSLASH = ord("\\")

_encode = msgspec.json.Encoder().encode


def check_distinct_keys(value: bytes, event: msgspec.Struct) -> None:
    """JSON readers keep the last of equal keys and tell nobody; here they are an error.

    The event is encoded once more, and the colons are counted: `{"api": "Tick", "api": "Tick"}` has two, what was read
    of it, `{"api":"Tick"}`, has one. With as many colons as before there were as many keys. Only escapes can make a
    difference of their own; then the slow way decides.

    Raises:
        FieldError: an object has a key twice.
    """
    if _BACKSLASH in value or value.count(_COLON) != _encode(event).count(_COLON):
        json.loads(value, object_pairs_hook=_distinct)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = dict(pairs)
    if len(keys) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise FieldError(twice, "is there twice")
    return keys


def check_text_sizes(value: bytes) -> None:
    """Kafka limits the bytes of a text; the structs limit its characters, which is the same for ASCII.

    Raises:
        FieldError: a text has more bytes than Kafka could write.
    """
    if len(value) > LONGEST_TEXT and (_BACKSLASH in value or not value.isascii()):
        _check_texts(plain_tree(value), "")


def _check_texts(node: object, path: str) -> None:
    match node:
        case dict():
            for name, child in node.items():
                _check_texts(child, f"{path}.{name}" if path else name)
        case list():
            for index, child in enumerate(node):
                _check_texts(child, f"{path}[{index}]")
        case str() if not node.isascii() and len(node.encode()) > LONGEST_TEXT:
            shown = f"{path} = {shortened(node)}"
            raise FieldError(shown, f"is longer than {LONGEST_TEXT} bytes of UTF-8")
