"""confluent-kafka-python: its source distribution has no tests, so a program of ours."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from tests.peers.suite import Case, NotObtainableError, Place, Suite
from tests.peers.suites.own_programs import PROGRAMS, Program, said

_PROGRAM = PROGRAMS / "confluent_groups.py"
_LIFE = (
    *("shared", "described", "taken over", "committed"),
    *("listed", "altered", "deleted", "exactly once"),
)
_EXPECTED = [f"{protocol}: {what}" for protocol in ("classic", "consumer") for what in _LIFE]


def _obtain() -> Path:
    if find_spec("confluent_kafka") is None:
        raise NotObtainableError("confluent-kafka is not installed")
    return _PROGRAM


def _run(program: Path, place: Place) -> Sequence[Case]:
    return said(Program((sys.executable, program), {}, _EXPECTED), place)


CONFLUENT = Suite("confluent-kafka", _obtain, _run)
