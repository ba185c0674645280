"""Kafka's own message definitions, from a jar of the tests' broker, and the differences of ours."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import zip_longest
from typing import Any
from zipfile import ZipFile

import msgspec

from group_coordinator.binary.layouts import FieldLayout, StructLayout, message_layout
from group_coordinator.binary.notation import Message
from group_coordinator.local.jars import broker_jars

_COMMENT = re.compile(r"^\s*//.*$", re.MULTILINE)
_FOLDER = "common/message/"
_ARRAY = "[]"
_HIGHEST_VERSION = 2**15 - 1
_ZEROS: Mapping[str, Any] = {"string": "", "bytes": "", "uuid": "A" * 22, "records": None}


class KafkasField(msgspec.Struct, frozen=True, rename="camel"):
    """A field; the type is a number, a text, or the name of a struct, with [] in front of it for an array."""

    name: str
    type: str
    versions: str | None = None
    nullable_versions: str = "none"
    tagged_versions: str = "none"
    flexible_versions: str | None = None
    tag: int | None = None
    default: str | int | bool | None = None
    fields: tuple[KafkasField, ...] = ()


class KafkasStruct(msgspec.Struct, frozen=True):
    """A struct that several fields of a message have."""

    name: str
    fields: tuple[KafkasField, ...]


class KafkasMessage(msgspec.Struct, frozen=True, rename="camel"):
    """A file: a request, a response, a header, the key or the value of a record. Headers have no key, removed messages no versions."""

    type: str
    name: str
    valid_versions: str
    flexible_versions: str = "none"
    fields: tuple[KafkasField, ...] = ()
    api_key: int | None = None
    common_structs: tuple[KafkasStruct, ...] = ()
    listeners: tuple[str, ...] = ()


def kafkas_messages(module: str) -> dict[str, KafkasMessage]:
    """All that the jar of a module of Kafka's defines, by name."""
    (jar,) = (jar for jar in broker_jars() if re.match(rf"{module}-\d", jar.name))
    with ZipFile(jar) as files:
        names = [name for name in files.namelist() if re.match(rf"{_FOLDER}\w+\.json$", name)]
        found = [_read(files.read(name).decode()) for name in names]
    return {message.name: message for message in found}


def _read(text: str) -> KafkasMessage:
    return msgspec.json.decode(_COMMENT.sub("", text), type=KafkasMessage)


def apis_of_brokers(messages: Mapping[str, KafkasMessage]) -> set[str]:
    """The APIs that a broker offers."""
    return {
        message.name.removesuffix("Request")
        for message in messages.values()
        if message.type == "request" and "broker" in message.listeners
    }


def other_definitions(
    kafkas: KafkasMessage | None, ours: Message, key: int | None
) -> Iterator[str]:
    """Yield the differences of our definition of a message: key, versions, and each field of each version."""
    if kafkas is None:
        yield f"{ours.name} is not Kafka's"
        return
    since = ours.flexible_since
    flexible = "none" if since is None else f"{since}+"
    facts = {
        "key": (kafkas.api_key, key),
        "versions": (_versions(kafkas.valid_versions), ours.versions),
        "flexible versions": (kafkas.flexible_versions, flexible),
    }
    for fact, (theirs, found) in facts.items():
        if theirs != found:
            yield f"{ours.name}: {fact}: Kafka {theirs}, ours {found}"
    for version in _versions(kafkas.valid_versions):
        found_layout = message_layout(ours, version)
        for difference in _other_fields(_layout(kafkas, version), found_layout):
            yield f"{ours.name} v{version}: {difference}"


def _other_fields(kafkas: StructLayout, ours: StructLayout, around: str = "") -> Iterator[str]:
    for theirs, found in zip_longest(kafkas.fields, ours.fields):
        if theirs and found and theirs.struct and found.struct and _same_around(theirs, found):
            yield from _other_fields(theirs.struct, found.struct, f"{around}{found.name}.")
        elif theirs != found:
            yield f"{around or 'fields'}: Kafka {theirs}, ours {found}"
    tags = (kafkas.tags_of_other_versions, ours.tags_of_other_versions)
    if tags[0] != tags[1]:
        yield f"{around or 'fields'}: tags of other versions: Kafka {tags[0]}, ours {tags[1]}"


def _same_around(kafkas: FieldLayout, ours: FieldLayout) -> bool:
    return replace(kafkas, struct=None) == replace(ours, struct=None)


def _versions(text: str) -> range:
    """Of "3", "3-5", "3+" or "none"."""
    if text == "none":
        return range(0)
    if text.endswith("+"):
        return range(int(text.removesuffix("+")), _HIGHEST_VERSION + 1)
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def _layout(message: KafkasMessage, version: int) -> StructLayout:
    structs = {struct.name: struct.fields for struct in message.common_structs}
    return _Layouts(version, structs, _versions(message.flexible_versions)).of(message.fields)


class _Layouts:
    def __init__(
        self, version: int, structs: Mapping[str, tuple[KafkasField, ...]], flexible: range
    ) -> None:
        self._version = version
        self._structs = structs
        self._flexible = version in flexible

    def of(self, fields: tuple[KafkasField, ...]) -> StructLayout:
        here = [self._field(field) for field in fields if self._is_in(_lifetime(field))]
        tagged = sorted((field for field in here if field.tag is not None), key=_tag)
        tags = {field.tag for field in tagged}
        others = (field.tag for field in fields if field.tag is not None and field.tag not in tags)
        plain = tuple(field for field in here if field.tag is None)
        return StructLayout(plain, tuple(tagged), tuple(others), self._flexible)

    def _is_in(self, versions: str) -> bool:
        return self._version in _versions(versions)

    def _field(self, field: KafkasField) -> FieldLayout:
        type_ = field.type.removeprefix(_ARRAY)
        is_struct = type_[0].isupper()
        return FieldLayout(
            # Kafka's JSON writes names so.
            name=field.name[0].lower() + field.name[1:],
            type="struct" if is_struct else type_,  # type: ignore[arg-type]
            struct=self.of(field.fields or self._structs[type_]) if is_struct else None,
            is_array=field.type.startswith(_ARRAY),
            nullable=self._is_in(field.nullable_versions),
            # The client id in a request's header is never flexible.
            compact=self._flexible and field.flexible_versions != "none",
            tag=field.tag if self._flexible and self._is_in(field.tagged_versions) else None,
            default=_default(field),
        )


def _lifetime(field: KafkasField) -> str:
    return field.versions or field.tagged_versions


def _tag(field: FieldLayout) -> int:
    assert field.tag is not None
    return field.tag


def _default(field: KafkasField) -> Any:
    """The default of a field. Definitions write numbers as texts and null as "null"; a bare null is no default."""
    if field.default == "null":
        return None
    if field.type.startswith(_ARRAY):
        return []
    if field.type in _ZEROS or field.type[0].isupper():
        return field.default or _ZEROS.get(field.type, {})
    if field.type == "bool":
        return field.default in {True, "true"}
    return float(field.default or 0) if field.type == "float64" else int(str(field.default or 0), 0)
