"""aiokafka: its own tests need containers, so a program of ours."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tests.peers.sources import once, python_packages
from tests.peers.suite import Case, Place, Suite
from tests.peers.suites.own_programs import PROGRAMS, Program, said

_REQUIREMENT = "aiokafka==0.14.0"
_EXPECTED = ("shared", "read", "committed", "listed", "taken over")


def _obtain() -> Path:
    return once(_REQUIREMENT, partial(python_packages, [_REQUIREMENT]))


def _run(packages: Path, place: Place) -> Sequence[Case]:
    command = (sys.executable, PROGRAMS / "aiokafka_groups.py")
    return said(Program(command, {"PYTHONPATH": str(packages)}, _EXPECTED), place)


AIOKAFKA = Suite("aiokafka", _obtain, _run)
