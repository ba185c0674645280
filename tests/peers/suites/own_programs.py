"""Programs of ours with clients whose own tests no registry has: each line of output names what was right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.peers.commands import ended, in_a_line
from tests.peers.suite import Case, Outcome, Place

PROGRAMS = Path(__file__).parents[1] / "programs"
_TIMEOUT_S = 280


class Program(NamedTuple):
    """How it is started, and what it must say, in this order."""

    command: Sequence[str | Path]
    environment: Mapping[str, str]
    expected: Sequence[str]


def said(program: Program, place: Place) -> list[Case]:
    """A test for each line; the first that is missing failed with what the program said instead."""
    command = (*program.command, place.bootstrap_servers)
    done = ended(command, program.environment, place.folder, _TIMEOUT_S)
    lines = done.said.splitlines()
    return [
        Case(name, Outcome.PASSED)
        if name in lines
        else Case(name, Outcome.FAILED, in_a_line(" ".join(lines[-4:])))
        for name in program.expected
    ]
