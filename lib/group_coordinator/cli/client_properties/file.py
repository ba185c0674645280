"""Reads a .properties file as Java does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from javaproperties import InvalidUEscapeError, KeyValue, parse


class PropertiesError(ValueError):
    """A file or a property cannot be used; the message names it."""


def read_properties(path: Path) -> dict[str, str]:
    """Read the properties of a file; the last value of a repeated property counts.

    Raises:
        PropertiesError: the file cannot be read, or has a line that is not KEY=VALUE.
    """
    try:
        return dict(_pairs(_decoded(path.read_bytes())))
    except OSError as error:
        raise PropertiesError(f"{path}: {error.strerror}") from error
    except (InvalidUEscapeError, PropertiesError) as error:
        raise PropertiesError(f"{path}: {error}") from error


def _decoded(content: bytes) -> str:
    """Decode UTF-8, or Latin-1, which Java expects. Latin-1 text is hardly ever valid UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """Yield the properties as Java reads them, except that a name without a value is an error."""
    for element in parse(text):
        if isinstance(element, KeyValue):
            line = element.source.strip()
            if not element.value and line[-1] not in "=:":
                raise PropertiesError(f"{line!r} is not KEY=VALUE")
            yield element.key, element.value.strip()
