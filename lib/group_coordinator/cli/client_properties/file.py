"""A file of properties, as Java's programs read it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from javaproperties import InvalidUEscapeError, KeyValue, parse


class PropertiesError(ValueError):
    """A file or a property cannot be used; the message names it."""


def read_properties(path: Path) -> dict[str, str]:
    """The properties of a file; of one that is given twice the last value counts.

    Raises:
        PropertiesError: the file cannot be read, or has a line that is no property.
    """
    try:
        return dict(_pairs(_decoded(path.read_bytes())))
    except OSError as error:
        raise PropertiesError(f"{path}: {error.strerror}") from error
    except (InvalidUEscapeError, PropertiesError) as error:
        raise PropertiesError(f"{path}: {error}") from error


def _decoded(content: bytes) -> str:
    """Java takes every file for Latin-1; people also write UTF-8, which Latin-1 hardly ever looks like."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """As Java reads them, but for a name that stands alone."""
    for element in parse(text):
        if isinstance(element, KeyValue):
            line = element.source.strip()
            if not element.value and line[-1] not in "=:":
                raise PropertiesError(f"{line!r} is not KEY=VALUE")
            yield element.key, element.value.strip()
