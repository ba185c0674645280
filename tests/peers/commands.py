"""Runs a suite's own command."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.peers.suite import SuiteError

_SAID_LINES = 10
_LINE_CHARACTERS = 160


class Ended(NamedTuple):
    """A command that came to its end."""

    status: int
    said: str


def ended(
    command: Sequence[str | Path], environment: Mapping[str, str], folder: Path, timeout_s: float
) -> Ended:
    """Run it; its output and its errors are one text.

    Raises:
        SuiteError: it takes too long.
    """
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program
            command,
            cwd=folder,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=timeout_s,
        )
    except subprocess.TimeoutExpired as late:
        said = late.output.decode(errors="replace") if isinstance(late.output, bytes) else ""
        raise SuiteError(f"not done after {timeout_s:.0f} s: {tail(said)}") from late
    return Ended(done.returncode, done.stdout)


def tail(said: str) -> str:
    """The last lines."""
    return "\n".join(said.strip().splitlines()[-_SAID_LINES:])


def in_a_line(text: str) -> str:
    """A failure's message as a cell of a table takes it."""
    return " ".join(text.split())[:_LINE_CHARACTERS]
