"""Errors that a user can fix: a plain sentence on standard error and exit status 1.

Characters that standard output cannot encode or a terminal cannot show are escaped.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper

import click

from group_coordinator.driver.errors import StartUpError
from group_coordinator.gateway import GatewayStartError
from group_coordinator.local.broker import BrokerError
from group_coordinator.local.daemon import AlreadyRunsError, DamagedRecordError
from group_coordinator.local.jars import JarsError, JavaMissingError
from group_coordinator.report.phrases import is_seen
from group_coordinator.streaming.spark_lines import UnknownSparkError

_REFUSALS = (
    AlreadyRunsError,
    BrokerError,
    DamagedRecordError,
    GatewayStartError,
    JarsError,
    JavaMissingError,
    StartUpError,
    UnknownSparkError,
)


@contextmanager
def user_errors_shown() -> Iterator[None]:
    """Turn errors that a user can fix into click's error with status 1."""
    try:
        yield
    except _REFUSALS as error:
        raise click.ClickException(str(error)) from error


_NOT_ASCII = re.compile(r"[^\n -~]")


def escape_missing_characters() -> None:
    """Make standard output escape characters that its encoding lacks, instead of a UnicodeEncodeError."""
    if isinstance(sys.stdout, TextIOWrapper):  # not so in a notebook
        sys.stdout.reconfigure(errors="backslashreplace")


def visible_json(document: str, encoding: str | None) -> str:
    r"""Return the document with \uXXXX for characters that are invisible or not in the encoding (None: UTF-8)."""

    def escaped(found: re.Match[str]) -> str:
        character = found[0]
        if is_seen(character) and character.encode(encoding or "utf-8", "ignore"):
            return character
        # JSON's escapes are UTF-16 code units.
        units = character.encode("utf-16-be", "surrogatepass")
        return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))

    return _NOT_ASCII.sub(escaped, document)
