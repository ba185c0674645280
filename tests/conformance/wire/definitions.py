"""Kafka's own definitions, from the jar of the broker that the tests run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from zipfile import ZipFile

from group_coordinator.codecs import wire
from group_coordinator.codecs.wire.definitions import read_definition
from group_coordinator.local.jars import broker_jars

SCHEMAS = Path(wire.__file__).with_name("schemas")
_FOLDER = "common/message/"


def kafkas_definitions() -> dict[str, bytes]:
    """The files by name, of all messages that Kafka has."""
    (jar,) = (jar for jar in broker_jars() if re.match(r"kafka-clients-\d", jar.name))
    with ZipFile(jar) as files:
        return {
            name.removeprefix(_FOLDER): files.read(name)
            for name in files.namelist()
            if name.startswith(_FOLDER) and name.endswith(".json")
        }


def apis_of_brokers(files: Mapping[str, bytes]) -> set[str]:
    """The APIs that a broker offers, among these definitions."""
    read = (read_definition(text.decode()) for text in files.values() if _is_offered(text))
    return {definition.name.removesuffix("Request") for definition in read}


def _is_offered(text: bytes) -> bool:
    return (
        re.search(rb'"type": "request".*"listeners": \[[^]]*"broker"', text, re.DOTALL) is not None
    )


def our_definitions() -> dict[str, bytes]:
    """Those that are in the package."""
    return {file.name: file.read_bytes() for file in SCHEMAS.glob("*.json")}
