"""What a suite is, and what it says of each of its tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypeAlias


class Outcome(Enum):
    """How a test ended, by the suite's own report."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


class Case(NamedTuple):
    """One test of a suite."""

    name: str
    outcome: Outcome
    why: str = ""
    """What the suite says of a failure, in a line."""
    said: tuple[str, ...] = ()
    """Lines that must be the same at both places."""


class NotObtainableError(Exception):
    """A suite cannot be had here: what is missing, in a sentence."""


class SuiteError(Exception):
    """A suite ended without a report; carries the end of what it said."""


class Place(NamedTuple):
    """Where a suite runs: HOST:PORT of a broker or a gateway, and a folder that is removed afterwards."""

    bootstrap_servers: str
    folder: Path


QUICK: Mapping[str, int] = MappingProxyType(
    {"group.initial.rebalance.delay.ms": 0, "group.min.session.timeout.ms": 1000}
)
"""Settings of the coordinator: nobody waits for Kafka's usual 3 s, and sessions may be shorter than 6 s."""

Run: TypeAlias = Callable[[Path, Place], Sequence[Case]]


class Suite(NamedTuple):
    """Tests that nobody here wrote."""

    name: str
    obtain: Callable[[], Path]
    """Fetch and build it, once; where it is. It raises NotObtainableError."""
    run: Run
    """It raises SuiteError."""
    explained: Mapping[str, str] = MappingProxyType({})
    """Why a test passes at a broker and not through us, by name."""
    coordinator: Mapping[str, int] = QUICK
    """Settings that its tests expect of the coordinator, at both places."""
