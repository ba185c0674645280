"""sarama: its tests want five brokers, and its module has no examples, so a program of ours."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from tests.peers.sources import do, needed, once
from tests.peers.suite import Case, Place, Suite
from tests.peers.suites.own_programs import PROGRAMS, Program, said

_VERSION = "1.61.1"
_SOURCE = PROGRAMS / "sarama" / "main.go"
_EXPECTED = ("joined", "read", "shared", "taken over", "committed", "listed", "deleted")


def _obtain() -> Path:
    fingerprint = hashlib.sha256(_SOURCE.read_bytes()).hexdigest()[:12]
    return once(f"sarama-{_VERSION}-{fingerprint}", _built) / "groups"


def _built(folder: Path) -> None:
    go = needed("go")
    environment = {**os.environ, "GOFLAGS": ""}
    (folder / "go.mod").write_text("module peers\n\ngo 1.26\n", encoding="utf-8")
    shutil.copy(_SOURCE, folder)
    do([go, "get", f"github.com/IBM/sarama@v{_VERSION}"], folder, environment)
    do([go, "build", "-p", "1", "-o", "groups", "."], folder, environment)


def _run(program: Path, place: Place) -> Sequence[Case]:
    return said(Program((program,), {}, _EXPECTED), place)


SARAMA = Suite("sarama", _obtain, _run)
