"""A `--command-config` file: Kafka's client properties, for clients of kafka-python."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click
from javaproperties import InvalidUEscapeError, KeyValue, parse
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

from group_coordinator.core.java_text import java_number

_LOGIN = re.compile(r'\b(username|password)\s*=\s*"((?:[^"\\]|\\.)*)"')
_OBJECTS = (
    *("kafka_client", "metric_reporters", "sasl_oauth_token_provider"),
    *("selector", "socket_options", "ssl_context"),
)
"""No text stands for them."""
_DEFAULTS = {
    name: value
    for name, value in KafkaAdminClient.DEFAULT_CONFIG.items()
    if name in KafkaConsumer.DEFAULT_CONFIG
    and name in KafkaProducer.DEFAULT_CONFIG
    and name not in _OBJECTS
}
"""Options that all three clients have: a client refuses to start with an option that it does not know."""


def client_options(command_config: Path | None) -> dict[str, Any]:
    """Options for kafka-python from the file that --command-config names, if it names one.

    Raises:
        click.UsageError: the file cannot be used.
    """
    if command_config is None:
        return {}
    try:
        return read_client_properties(command_config)
    except (OSError, UnicodeDecodeError, PropertiesError) as error:
        raise click.UsageError(str(error)) from error


def java_properties(command_config: Path | None) -> dict[str, str]:
    """The properties of the file as Java's clients take them; `client_options` says whether it can be used."""
    if command_config is None:
        return {}
    # --bootstrap-server gives the address.
    return {key: value for key, value in _properties(command_config) if key != "bootstrap.servers"}


class PropertiesError(ValueError):
    """The file has a line or a property that cannot be used; the message names it."""


def read_client_properties(path: Path) -> dict[str, Any]:
    """Options for kafka-python: security.protocol becomes security_protocol, and so on.

    Raises:
        PropertiesError: a property is not one that kafka-python has.
    """
    return known_options(_properties(path), str(path))


def known_options(properties: Iterable[tuple[str, str]], origin: str) -> dict[str, Any]:
    """Options for kafka-python of properties that are in the origin, such as a file.

    Raises:
        PropertiesError: a property is not one that kafka-python has, or is no number where that has one.
    """
    options: dict[str, Any] = {}
    for key, value in properties:
        if key == "sasl.jaas.config":
            options |= {f"sasl_plain_{name}": text for name, text in _LOGIN.findall(value)}
        elif (name := key.replace(".", "_")) in _DEFAULTS:
            try:
                options[name] = _typed(value, _DEFAULTS[name])
            except ValueError as error:
                raise PropertiesError(f"{origin}: {key} = {value} is not a number") from error
        else:
            raise PropertiesError(f"{origin}: {key} is not a property that kafka-python has")
    options.pop("bootstrap_servers", None)  # --bootstrap-server gives it
    return options


def _properties(path: Path) -> Iterator[tuple[str, str]]:
    """As Java reads them, but for the encoding, and for a name that stands alone."""
    try:
        for element in parse(path.read_text(encoding="utf-8")):
            if isinstance(element, KeyValue):
                text = element.source.strip()
                if not element.value and text[-1] not in "=:":
                    raise PropertiesError(f"{path}: {text!r} is not KEY=VALUE")
                yield element.key, element.value.strip()
    except InvalidUEscapeError as error:
        raise PropertiesError(f"{path}: {error}") from error


def _typed(value: str, default: object) -> str | int | bool:
    """The value as what its default is; a password of digits stays a text."""
    if isinstance(default, bool):
        return value.lower() == "true"
    if not isinstance(default, int):
        return value
    number = java_number(value)
    if number is None:
        raise ValueError(value)
    return number
