"""Kafka's APIs: their names, keys and versions, as far as their requests are defined here."""

from __future__ import annotations

from group_coordinator.codecs.wire.schemas import APIS, MESSAGES

_NAMES = {api.key: api.name for api in APIS.values()}


def api_name(key: int) -> str | None:
    """The name, "Metadata" of 3; None of a key that is defined nowhere."""
    return _NAMES.get(key)


def api_key(name: str) -> int:
    """The inverse of api_name. Raises KeyError: nothing has this name."""
    return APIS[name].key


def valid_versions(api: str) -> range:
    """All that Kafka 4.4.0 defines, the newest even where brokers do not offer it yet (InitProducerId 6)."""
    return APIS[api].versions


def is_flexible(message: str, version: int) -> bool:
    """Whether a message has tagged fields in a version, which may be one that is not defined yet."""
    return MESSAGES[message].is_flexible(version)
