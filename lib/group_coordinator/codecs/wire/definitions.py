"""Kafka's own definitions of its messages, as its files say them (`schemas/`, unchanged).

A message is a request, a response or a header. Versions are texts here; `versions.py` reads them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec

_COMMENT = re.compile(r"^\s*//.*$", re.MULTILINE)


class FieldDefinition(msgspec.Struct, frozen=True, rename="camel"):
    """A field; the type is a number, a text, or the name of a struct, with [] in front of it for an array."""

    name: str
    type: str
    versions: str
    nullable_versions: str = "none"
    tagged_versions: str = "none"
    flexible_versions: str | None = None
    tag: int | None = None
    default: str | int | bool | None = None
    fields: tuple[FieldDefinition, ...] = ()


class StructDefinition(msgspec.Struct, frozen=True, rename="camel"):
    """A struct that several fields of a message have."""

    name: str
    fields: tuple[FieldDefinition, ...]


class MessageDefinition(msgspec.Struct, frozen=True, rename="camel"):
    """A whole file; headers have no key."""

    type: Literal["request", "response", "header"]
    name: str
    valid_versions: str
    flexible_versions: str
    fields: tuple[FieldDefinition, ...]
    api_key: int | None = None
    common_structs: tuple[StructDefinition, ...] = ()


def read_definition(text: str) -> MessageDefinition:
    """The definition in a file, which is JSON with lines of comments."""
    return msgspec.json.decode(_COMMENT.sub("", text), type=MessageDefinition)


@cache
def definitions() -> Mapping[str, MessageDefinition]:
    """All of them by name ("OffsetCommitRequest"); read once, when the first message is."""
    return {definition.name: definition for definition in map(read_definition, _texts())}


def _texts() -> Iterator[str]:
    for file in (files(__package__) / "schemas").iterdir():
        if file.name.endswith(".json"):
            yield file.read_text(encoding="utf-8")
