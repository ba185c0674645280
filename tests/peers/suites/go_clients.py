"""sarama and kafka-go: their tests want several brokers or containers, so programs of ours."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tests.peers.sources import do, needed, once
from tests.peers.suite import Case, Place, Suite
from tests.peers.suites.own_programs import PROGRAMS, Program, said


def _obtain(folder: str, module: str, version: str) -> Path:
    source = PROGRAMS / folder / "main.go"
    fingerprint = hashlib.sha256(source.read_bytes()).hexdigest()[:12]
    built = partial(_build, source, f"{module}@v{version}")
    return once(f"{folder}-{version}-{fingerprint}", built) / "groups"


def _build(source: Path, module: str, folder: Path) -> None:
    go = needed("go")
    environment = {**os.environ, "GOFLAGS": ""}
    (folder / "go.mod").write_text("module peers\n\ngo 1.26\n", encoding="utf-8")
    shutil.copy(source, folder)
    do([go, "get", module], folder, environment)
    do([go, "build", "-p", "1", "-o", "groups", "."], folder, environment)


def _run(expected: Sequence[str], program: Path, place: Place) -> Sequence[Case]:
    return said(Program((program,), {}, expected), place)


SARAMA = Suite(
    "sarama",
    partial(_obtain, "sarama", "github.com/IBM/sarama", "1.61.1"),
    partial(_run, ("joined", "read", "shared", "taken over", "committed", "listed", "deleted")),
)
KAFKA_GO = Suite(
    "kafka-go",
    partial(_obtain, "kafka_go", "github.com/segmentio/kafka-go", "0.4.51"),
    partial(_run, ("joined", "each committed", "committed", "gone on")),
)
