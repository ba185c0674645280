"""What Kafka's client properties mean to clients of kafka-python, and what of them to Java's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import click

from group_coordinator.cli.client_properties.file import PropertiesError, read_properties
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
)
from group_coordinator.cli.client_properties.stores import USED_BY_TLS, is_pem, tls_options
from group_coordinator.core.java_text import java_number
from group_coordinator.core.model.config import ConfigError

_BUFFERS = ("receive_buffer_bytes", "send_buffer_bytes")
"""Numbers whose default, the system's own, is None to kafka-python and -1 to Kafka."""
_ADDRESS = "bootstrap.servers"
"""--bootstrap-server gives it, as for Kafka's tools."""


class ClientProperties(NamedTuple):
    """The same properties, for the clients of both sides."""

    python: dict[str, Any]
    java: dict[str, str]


def client_options(command_config: Path | None) -> dict[str, Any]:
    """Options for kafka-python from the file that --command-config names, if it names one.

    What has no effect is told on standard error.

    Raises:
        click.UsageError: the file cannot be used; the message names it and the property.
    """
    properties = given_properties(command_config)
    return python_options(properties, str(command_config), tells_of=properties)


def options_of_both(command_config: Path | None) -> ClientProperties:
    """As `client_options`, where Java's clients get the properties too: those that every one of them has.

    Others are not for a client that Spark makes: it refuses some, and a group would be another one than its own.
    """
    properties = given_properties(command_config)
    java = {key: properties[key] for key in properties if key in OF_EVERY_CLIENT - {_ADDRESS}}
    python = python_options(
        properties, str(command_config), tells_of=properties.keys() - java.keys()
    )
    for store in ("truststore", "keystore"):
        if is_pem(java.get(f"ssl.{store}.location", "")):
            java.setdefault(f"ssl.{store}.type", "PEM")
    return ClientProperties(python, java)


def given_properties(command_config: Path | None) -> dict[str, str]:
    """The properties of the file, if there is one.

    Raises:
        click.UsageError: the file cannot be read.
    """
    if command_config is None:
        return {}
    try:
        return read_properties(command_config)
    except PropertiesError as error:
        raise click.UsageError(str(error)) from error


def python_options(
    properties: Mapping[str, str], origin: str, tells_of: Iterable[str]
) -> dict[str, Any]:
    """Options for kafka-python of properties that are in the origin, such as a file.

    Args:
        properties: Kafka's, and those of kafka-python with dots.
        origin: messages begin with it.
        tells_of: of these properties it is told on standard error if they have no effect.

    Raises:
        click.UsageError: a property cannot be used.
    """
    try:
        options = {
            **_plain_options(properties),
            **tls_options(properties),
            **login_options(properties),
        }
    except (ConfigError, PropertiesError) as error:
        raise click.UsageError(f"{origin}: {error}") from error
    used = {_ADDRESS, *USED_BY_TLS, *used_by_login(properties)}
    idle = [key for key in properties if _option(key) not in OF_PYTHON and key not in used]
    _tell_unknown([key for key in idle if not is_known(key)], origin)
    known = [key for key in idle if is_known(key) and key in set(tells_of)]
    _tell_without_effect([*known, *unused_by_login(properties)], origin)
    return options


def _plain_options(properties: Mapping[str, str]) -> dict[str, Any]:
    """Those that kafka-python has by the same name."""
    options = {
        _option(key): _typed(key, value, OF_PYTHON[_option(key)])
        for key, value in properties.items()
        if _option(key) in OF_PYTHON and key != _ADDRESS
    }
    return {name: value for name, value in options.items() if name not in _BUFFERS or value != -1}


def _option(key: str) -> str:
    return key.replace(".", "_")


def _typed(key: str, value: str, default: object) -> str | int | bool:
    """The value as what its default is; a password of digits stays a text."""
    if isinstance(default, bool):
        if value.lower() not in {"true", "false"}:
            raise PropertiesError(f"{key} = {value} is neither true nor false")
        return value.lower() == "true"
    if not isinstance(default, int) and _option(key) not in _BUFFERS:
        return value
    number = java_number(value)
    if number is None:
        raise PropertiesError(f"{key} = {value} is not a number")
    return number


def _tell_unknown(names: Iterable[str], origin: str) -> None:
    for name in names:
        click.echo(f"{origin}: {name} is no property of Kafka's clients{advice(name)}", err=True)


def _tell_without_effect(names: list[str], origin: str) -> None:
    if names:
        verb = "has" if len(names) == 1 else "have"
        click.echo(f"{origin}: {', '.join(names)} {verb} no effect here", err=True)
