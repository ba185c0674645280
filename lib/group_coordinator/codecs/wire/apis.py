"""Kafka's APIs: their names, keys and versions, as far as there are definitions of their requests."""

from __future__ import annotations

from functools import cache

from group_coordinator.codecs.wire.definitions import definitions
from group_coordinator.codecs.wire.versions import version_range


def api_name(key: int) -> str | None:
    """The name, "Metadata" of 3; None of a key that no definition has."""
    return _names().get(key)


def api_key(name: str) -> int:
    """The inverse of api_name. Raises KeyError: no definition has this name."""
    return _keys()[name]


def valid_versions(api: str) -> range:
    """All that Kafka 4.4.0 defines, the newest even where brokers do not offer it yet (InitProducerId 6)."""
    return version_range(definitions()[f"{api}Request"].valid_versions)


def is_flexible(message: str, version: int) -> bool:
    """Whether a message has tagged fields in a version, which may be one that is not defined yet."""
    return version in version_range(definitions()[message].flexible_versions)


@cache
def _keys() -> dict[str, int]:
    return {
        definition.name.removesuffix("Request"): definition.api_key
        for definition in definitions().values()
        if definition.type == "request" and definition.api_key is not None
    }


@cache
def _names() -> dict[int, str]:
    return {key: name for name, key in _keys().items()}
