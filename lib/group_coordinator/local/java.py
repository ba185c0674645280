"""Where the Java is that runs Spark and the broker."""

from __future__ import annotations

import os
import shlex
import shutil
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
    """What the user wants Java to be told wherever it runs Kafka, in the variable that Kafka's own scripts read."""
    return shlex.split(os.environ.get("KAFKA_OPTS", ""))
