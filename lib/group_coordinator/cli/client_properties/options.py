"""Conversion of Kafka's client properties to options of kafka-python and of Java's clients."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import click

from group_coordinator.cli.client_properties.file import (
    PropertiesError,
    read_properties,
    warn_if_others_read,
)
from group_coordinator.cli.client_properties.login import (
    login_options,
    unused_by_login,
    used_by_login,
)
from group_coordinator.cli.client_properties.names import (
    OF_EVERY_CLIENT,
    OF_PYTHON,
    advice,
    is_known,
    secrets_in,
)
from group_coordinator.cli.client_properties.stores import USED_BY_TLS, is_pem, tls_options
from group_coordinator.core.kafka_order import java_number, java_trimmed
from group_coordinator.core.model.config import ConfigError

_BUFFERS = ("receive_buffer_bytes", "send_buffer_bytes")
"""Buffer sizes. The default is the operating system's: None in kafka-python, -1 in Kafka."""
_IDLE = "connections_max_idle_ms"
"""Longest idle time of a connection. A number below 0 means never in Kafka, and at once in kafka-python."""
_FOR_EVER_MS = 2**31 - 1
_ADDRESS = "bootstrap.servers"
"""Ignored in the file: --bootstrap-server takes precedence, as in Kafka's tools."""


class ClientProperties(NamedTuple):
    """The same properties as options of kafka-python and of Java's clients."""

    python: dict[str, Any]
    java: dict[str, str]


def client_options(command_config: Path | None) -> dict[str, Any]:
    """Read options of kafka-python from the file of --command-config, if it is given.

    Standard error has the properties without effect.

    Raises:
        click.UsageError: the file cannot be used; the message names it and the property.
    """
    properties = given_properties(command_config)
    return python_options(properties, str(command_config), reported=properties)


def options_of_both(command_config: Path | None) -> ClientProperties:
    """Read options of kafka-python, and the properties that all of Java's clients have.

    The properties of some kinds of clients are left out: Spark rejects some, and chooses `group.id` itself.
    """
    properties = given_properties(command_config)
    java = {key: properties[key] for key in properties if key in OF_EVERY_CLIENT - {_ADDRESS}}
    python = python_options(
        properties, str(command_config), reported=properties.keys() - java.keys()
    )
    for store in ("truststore", "keystore"):
        if is_pem(java.get(f"ssl.{store}.location", "")):
            # Java does not detect PEM by the content.
            java.setdefault(f"ssl.{store}.type", "PEM")
    return ClientProperties(python, java)


def given_properties(command_config: Path | None) -> dict[str, str]:
    """Read the properties of the file, if it is given. Standard error has a line if other users can read a secret in it.

    Raises:
        click.UsageError: the file cannot be read.
    """
    if command_config is None:
        return {}
    try:
        properties = read_properties(command_config)
    except PropertiesError as error:
        raise click.UsageError(str(error)) from error
    warn_if_others_read(command_config, secrets_in(properties))
    return properties


def python_options(
    properties: Mapping[str, str], origin: str, reported: Iterable[str]
) -> dict[str, Any]:
    """Convert properties to options of kafka-python.

    Args:
        properties: Kafka's names, or kafka-python's with dots.
        origin: source of the properties, such as a file; messages begin with it.
        reported: properties that are reported on standard error if they have no effect.

    Raises:
        click.UsageError: a property cannot be used.
    """
    hidden = secrets_in(properties)
    properties = {
        # Java trims values of all types but passwords.
        key: value if key in hidden else java_trimmed(value)
        for key, value in properties.items()
    }
    try:
        options = {
            **_plain_options(properties),
            **tls_options(properties),
            **login_options(properties),
        }
    except (ConfigError, PropertiesError) as error:
        raise click.UsageError(f"{origin}: {error}") from error
    used = {_ADDRESS, *USED_BY_TLS, *used_by_login(properties)}
    # Properties without effect are reported, as a typo would stay unnoticed.
    idle = [key for key in properties if _option(key) not in OF_PYTHON and key not in used]
    _report_unknown([key for key in idle if not is_known(key)], origin)
    known = [key for key in idle if is_known(key) and key in set(reported)]
    _report_without_effect([*known, *unused_by_login(properties)], origin)
    return options


def _plain_options(properties: Mapping[str, str]) -> dict[str, Any]:
    """Convert the properties that kafka-python has under the same name."""
    options: dict[str, Any] = {
        _option(key): _typed(key, value, OF_PYTHON[_option(key)])
        for key, value in properties.items()
        if _option(key) in OF_PYTHON and key != _ADDRESS
    }
    # The clients differ in the meaning of a negative number: see _IDLE.
    if options.get(_IDLE, 0) < 0:
        options[_IDLE] = _FOR_EVER_MS
    return {name: value for name, value in options.items() if name not in _BUFFERS or value != -1}


def _option(key: str) -> str:
    return key.replace(".", "_")


def _typed(key: str, value: str, default: object) -> str | int | bool:
    """Convert the value to the type of the default; a password of digits stays a text."""
    if isinstance(default, bool):
        if value.lower() not in {"true", "false"}:
            raise PropertiesError(f"{key} = {value} is not a boolean: give true or false")
        return value.lower() == "true"
    if not isinstance(default, int) and _option(key) not in _BUFFERS:
        return value
    number = java_number(value)
    if number is None:
        raise PropertiesError(f"{key} = {value} is not a number: give a whole number")
    return number


def _report_unknown(names: Iterable[str], origin: str) -> None:
    for name in names:
        click.echo(f"{origin}: {name} is not a property of Kafka's clients{advice(name)}", err=True)


def _report_without_effect(names: list[str], origin: str) -> None:
    if names:
        verb = "has" if len(names) == 1 else "have"
        click.echo(f"{origin}: {', '.join(names)} {verb} no effect here", err=True)
