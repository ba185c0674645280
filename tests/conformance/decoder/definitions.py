"""Kafka's own definitions of its messages, from its jar, in the words of our schemas."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from zipfile import ZipFile

from group_coordinator.codecs.offsets_topic.schemas.fields import (
    ArrayOf,
    Field,
    FieldType,
    RecordSchema,
    Scalar,
    Struct,
    TaggedField,
)
from group_coordinator.codecs.uuids import ZERO_UUID
from group_coordinator.local.jars import broker_jars
from tests.conformance.language.lines import Json

_COMMENT = re.compile(r"^\s*//.*$", re.MULTILINE)
_VERSIONS = re.compile(r"(?P<since>\d+)(?P<on>\+)?(-(?P<until>\d+))?")
_NOTHING: Mapping[Scalar, Any] = {
    Scalar.STRING: "",
    Scalar.BYTES: "",
    Scalar.UUID: ZERO_UUID,
}


def kafkas_schemas() -> dict[int, RecordSchema]:
    """The schemas that follow from the definitions, by record type."""
    keys, values = {}, {}
    for definition in _definitions():
        part = keys if definition["type"] == "coordinator-key" else values
        part[definition["apiKey"]] = definition
    assert keys.keys() == values.keys()
    return {record_type: _schema(keys[record_type], values[record_type]) for record_type in keys}


def _definitions() -> Iterator[Json]:
    (jar,) = (jar for jar in broker_jars() if re.match(r"kafka-group-coordinator-\d", jar.name))
    with ZipFile(jar) as files:
        for name in files.namelist():
            if name.startswith("common/message/") and name.endswith(".json"):
                yield json.loads(_COMMENT.sub("", files.read(name).decode()))


def _schema(key: Json, value: Json) -> RecordSchema:
    assert key["validVersions"] == "0"
    assert key["flexibleVersions"] == "none"
    lowest, highest = _since_until(value["validVersions"])
    assert lowest == 0
    flexible = value["flexibleVersions"]
    return RecordSchema(
        key["apiKey"],
        key["name"].removesuffix("Key"),
        _fields(key),
        _fields(value),
        highest_version=lowest if highest is None else highest,
        flexible_since=None if flexible == "none" else _since_until(flexible)[0],
    )


def _fields(definition: Json) -> Struct:
    found = _struct(definition, _common_structs(definition))
    if definition["validVersions"] != "0":
        return found
    # Of what has one version, some definitions say "0" and others "0+".
    return Struct(tuple(replace(field, until=None) for field in found.fields))


def _common_structs(definition: Json) -> dict[str, Json]:
    return {struct["name"]: struct for struct in definition.get("commonStructs", ())}


def _struct(definition: Json, common: Mapping[str, Json]) -> Struct:
    fields = [_field(field, common) for field in definition["fields"]]
    return Struct(tuple(sorted(fields, key=lambda field: isinstance(field, TaggedField))))


def _field(definition: Json, common: Mapping[str, Json]) -> Field:
    name = definition["name"][0].lower() + definition["name"][1:]
    type_ = _type(definition["type"], definition, common)
    versions = definition.get("versions") or definition["taggedVersions"]
    since, until = _since_until(versions)
    nullable = definition.get("nullableVersions", "none") != "none"
    assert not nullable or definition["nullableVersions"] == versions
    if "tag" not in definition:
        return Field(name, type_, since, until, nullable)
    assert definition["taggedVersions"] == versions
    default = _default(type_, definition.get("default"))
    return TaggedField(name, type_, since, until, nullable, tag=definition["tag"], default=default)


def _type(name: str, definition: Json, common: Mapping[str, Json]) -> FieldType:
    if name.startswith("[]"):
        return ArrayOf(_type(name.removeprefix("[]"), definition, common))
    if name[0].islower():
        return Scalar[name.upper()]
    return _struct(definition if "fields" in definition else common[name], common)


def _default(type_: FieldType, default: Any) -> Any:
    if default == "null":
        return None
    match type_:
        case ArrayOf():
            return []
        case Struct(fields):
            return {field.name: _default(field.type, None) for field in fields}
        case _ if type_ in _NOTHING:
            return _NOTHING[type_]
        case _:
            return int(default or 0)


def _since_until(versions: str) -> tuple[int, int | None]:
    found = _VERSIONS.fullmatch(versions)
    assert found is not None
    since = int(found["since"])
    if found["until"] is not None:
        return since, int(found["until"])
    return since, None if found["on"] else since
