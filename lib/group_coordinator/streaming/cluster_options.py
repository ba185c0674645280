"""Options of Spark's Kafka source and sink: the cluster's address and the login."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType

from group_coordinator.settings import JobSettings

DATABRICKS = "DATABRICKS_RUNTIME_VERSION"
"""An environment variable that exists only on Databricks."""

_SHADED = {
    "org.apache.kafka.": "kafkashaded.org.apache.kafka.",
    "software.amazon.msk.": "shadedmskiam.software.amazon.msk.",
}
_NAME_A_CLASS = (
    "sasl.jaas.config",
    "sasl.login.callback.handler.class",
    "sasl.client.callback.handler.class",
)
"""Properties that begin with the name of a class."""


def cluster_options(
    job: JobSettings, given: Mapping[str, str] = MappingProxyType({})
) -> dict[str, str]:
    """Options of a reader or a writer. Spark passes options that begin with `kafka.` to Kafka's own client.

    `given` are properties of that client, which take precedence over the settings. Databricks renames its classes, and those of
    Amazon's login to MSK.
    """
    properties = {
        "bootstrap.servers": job.bootstrap_servers,
        **job.security.java_options(),
        **given,
    }
    if DATABRICKS in os.environ:
        named = properties.keys() & _NAME_A_CLASS
        properties |= {key: _shaded(properties[key]) for key in named}
    return {f"kafka.{key}": value for key, value in properties.items()}


def kafka_package() -> str:
    """Return the Java package of the Kafka classes in Spark's connector, with a dot at the end."""
    usual = "org.apache.kafka."
    return _shaded(usual) if DATABRICKS in os.environ else usual


def _shaded(value: str) -> str:
    for usual, shaded in _SHADED.items():
        if value.startswith(usual):
            return shaded + value.removeprefix(usual)
    return value
