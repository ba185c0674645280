"""Reader of .properties files with Java's rules, and a warning for secrets that other users can read."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

import click
from javaproperties import InvalidUEscapeError, KeyValue, parse

from group_coordinator.streaming.cluster_options import DATABRICKS


class PropertiesError(ValueError):
    """Invalid file or property; the message names it."""


def read_properties(path: Path) -> dict[str, str]:
    """Read the properties of a file; the last value of a repeated property counts. Raises PropertiesError: it cannot be read."""
    try:
        return dict(_pairs(_decoded(path.read_bytes())))
    except OSError as error:
        raise PropertiesError(f"{path}: {error.strerror}") from error
    except (InvalidUEscapeError, PropertiesError) as error:
        raise PropertiesError(f"{path}: {error}") from error


def _decoded(content: bytes) -> str:
    # Java expects Latin-1, but most files are UTF-8. Latin-1 text is hardly ever valid UTF-8.
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """Yield the properties as Java reads them, except that a name without a value is an error."""
    for element in parse(text):
        if isinstance(element, KeyValue):
            line = element.source.strip()
            # Java reads such a line as an empty value, which is hardly ever meant.
            if not element.value and line[-1] not in "=:":
                raise PropertiesError(f"{line!r} is not KEY=VALUE")
            yield element.key, element.value.strip()


def warn_if_others_read(file: Path, secrets: Collection[str]) -> None:
    """Print a warning on standard error if other users can read the secrets of a file.

    Databricks mounts all files with the same mode, which has no meaning for readers.
    """
    if secrets and DATABRICKS not in os.environ and file.stat().st_mode & stat.S_IROTH:
        click.echo(
            f"Warning: {file} has {', '.join(secrets)}, and every user of this machine can read it: "
            f"chmod o-r {shlex.quote(str(file))}",
            err=True,
        )
