"""What is wrong with an event, in words: the field, its value, the reason."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any

import msgspec

from group_coordinator.codecs.fields import LONGEST_TEXT

_LONGEST_VALUE = 100
_PATH = re.compile(r"(?P<why>.*?)(?: - at `\$(?P<path>.*)`)?", re.DOTALL)
_STEP = re.compile(r"\.(?P<name>[^.\[]+)|\[(?P<index>\d+)\]")
_COLON = ord(":")
_BACKSLASH = ord("\\")

_encode = msgspec.json.Encoder().encode
_decode_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


class FieldError(ValueError):
    """A field of an event has a value that it must not have."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = path
        self.why = why


def plain_tree(value: bytes) -> dict[str, Any]:
    """The event as plain dictionaries and lists; without what cannot be read, empty if it is no JSON object."""
    try:
        fields = _decode_fields(value)
    except (ValueError, RecursionError):
        return {}
    tree = {}
    for name, field in fields.items():
        with suppress(ValueError, RecursionError):
            tree[name] = msgspec.json.decode(field)
    return tree


def at_path(prefix: str, fault: msgspec.ValidationError, value: bytes) -> FieldError:
    """Say of a misfit where it is and, if it is short, what is there."""
    found = _PATH.fullmatch(str(fault))
    why, path = (found["why"], found["path"] or "") if found else (str(fault), "")
    full_path = f".{prefix}{path}" if prefix else path
    misfit = _node_at(plain_tree(value), full_path)
    shown = "" if isinstance(misfit, dict | list) else f" = {_shortened(misfit)}"
    return FieldError(f"{full_path.removeprefix('.') or 'event'}{shown}", why)


def _node_at(tree: Any, path: str) -> Any:
    for step in _STEP.finditer(path):
        try:
            tree = tree[step["name"] or int(step["index"])]
        except (KeyError, IndexError, TypeError):
            return {}
    return tree


def _shortened(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "..."


def check_distinct_keys(value: bytes, event: msgspec.Struct) -> None:
    """JSON readers keep the last of equal keys and tell nobody; here they are an error.

    Encoded once more, the event has no duplicates, nor anything else less: if the colons are as many as before, so were
    the keys. Only escapes can make a difference of their own; then the slow way decides.

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
            shown = f"{path} = {_shortened(node)}"
            raise FieldError(shown, f"is longer than {LONGEST_TEXT} bytes of UTF-8")


def check_unknown(field: str, value: object, default: object, version: int) -> None:
    """A field that the version does not know, and that Kafka does not call ignorable, must have its default.

    Raises:
        FieldError: it has not.
    """
    if value is not msgspec.UNSET and value != default:
        raise FieldError(field, f"version {version} has no such field")


def only(field: str, names: list[str]) -> str:
    """The one entry of a list: groups are apart, so an event is about one; clients split longer lists.

    Raises:
        FieldError: there are none or several.
    """
    if len(names) != 1:
        raise FieldError(field, f"must have exactly one entry, not {len(names)}")
    return names[0]
