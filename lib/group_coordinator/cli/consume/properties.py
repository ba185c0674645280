"""Kafka's properties from a file and from KEY=VALUE options."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from group_coordinator.cli.client_properties.names import secrets_in
from group_coordinator.cli.client_properties.options import given_properties, python_options
from group_coordinator.cli.option_types import LAST_INT32, whole_number
from group_coordinator.core.java_text import java_trimmed


def key_values(given: Iterable[str]) -> dict[str, str]:
    """Convert KEY=VALUE texts to a dict.

    Raises:
        click.UsageError: a text has no = or no key.
    """
    found = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise click.UsageError(f"{text!r} is not KEY=VALUE")
        found[key] = value
    return found


class Properties:
    """Properties of `consume`. Properties that its methods do not return are options of kafka-python, or have no effect."""

    def __init__(self, file: Path | None, given: Iterable[str]) -> None:
        """Read the file and the KEY=VALUE options, which take precedence.

        Raises:
            click.UsageError: the file or an option cannot be read, or an option has a secret.
        """
        self.origin = "--command-property" if file is None else str(file)
        # Secrets are checked first, so that the error does not depend on other options.
        options = key_values(given)
        for key in secrets_in(options):
            name = "sasl.jaas.config" if key == "sasl.password" else key
            raise click.UsageError(
                f"--command-property {key}: other users can read a command line: set {name} in a --command-config file "
                "that only you can read"
            )
        self._left = given_properties(file) | options

    def text(self, name: str) -> str | None:
        """Return and remove a property; None: it has no value."""
        return self._left.pop(name, None)

    def choice(self, name: str, choices: tuple[str, ...]) -> str | None:
        """Return and remove a property with one of these words, in any case."""
        given = self.text(name)
        value = given and java_trimmed(given)
        if value is not None and value.casefold() not in choices:
            raise click.UsageError(
                f"{self.origin}: {name} = {value} is not valid: give one of {', '.join(choices)}"
            )
        return value and value.casefold()

    def number(self, name: str, default: int, most: int = LAST_INT32) -> int:
        """Return and remove a number from 0 up; most of Kafka's have 32 bits."""
        value = self.text(name)
        if value is None:
            return default
        number = whole_number(java_trimmed(value), most)
        if number is None:
            raise click.UsageError(
                f"{self.origin}: {name} = {value} is not valid: give a whole number from 0 to {most}"
            )
        return number

    def is_true(self, name: str) -> bool | None:
        """Return and remove a property with true or false."""
        value = self.choice(name, ("true", "false"))
        return None if value is None else value == "true"

    def rest(self) -> dict[str, Any]:
        """Convert the remaining properties to options of kafka-python.

        Raises:
            click.UsageError: a property cannot be used.
        """
        return python_options(self._left, self.origin, reported=self._left)
