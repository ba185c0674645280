"""Java commands for Spark and the broker, and commands for modules of this Python."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path


class JavaMissingError(RuntimeError):
    """This machine has no Java."""


def java(command: str = "java") -> str:
    """Find a command of Java as Spark's scripts do: in JAVA_HOME, then in PATH."""
    home = os.environ.get("JAVA_HOME")
    path = str(Path(home, "bin", command)) if home else shutil.which(command)
    if path is None:
        raise JavaMissingError("Java is missing: install Java 17 or newer, or set JAVA_HOME")
    return path


def kafka_options() -> list[str]:
    """The user's options for Java with Kafka, from the variable of Kafka's own scripts."""
    return shlex.split(os.environ.get("KAFKA_OPTS", ""))


def python_module(name: str, *arguments: str) -> list[str]:
    """Return the command that runs a module.

    Without -P Python would import click, or any other module, from the current folder first: any user with write access
    there could run code as this user.
    """
    return [sys.executable, "-P", "-m", name, *arguments]
