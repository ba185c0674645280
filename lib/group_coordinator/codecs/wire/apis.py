"""Names, keys and versions of the Kafka APIs that `schemas` defines."""

from __future__ import annotations

from group_coordinator.codecs.wire.schemas import APIS, MESSAGES

_NAMES = {api.key: api.name for api in APIS.values()}


def api_name(key: int) -> str | None:
    """Return the name of an API key, "Metadata" for 3; None if the key is not defined."""
    return _NAMES.get(key)


def api_key(name: str) -> int:
    """Return the key of an API name. Raises KeyError if the name is not defined."""
    return APIS[name].key


def valid_versions(api: str) -> range:
    """All that Kafka 4.4.0 defines, the newest even where brokers do not offer it yet (InitProducerId 6)."""
    return APIS[api].versions


def is_flexible(message: str, version: int) -> bool:
    """Whether a message has tagged fields in a version, which may be one that is not defined yet."""
    return MESSAGES[message].is_flexible(version)
