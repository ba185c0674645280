"""The coordinators that a script is played to: Kafka's own classes, and ours."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import IO, Protocol
from uuid import UUID

from group_coordinator.local.folders import cache_folder
from group_coordinator.local.jars import broker_jars, java
from group_coordinator.runtime.event_handling import fresh_id
from tests.conformance.kafka.restarts import RestartingReplay
from tests.conformance.language.lines import Json

SOURCES = Path(__file__).parent / "oracle"
PACKAGE = "org.apache.kafka.coordinator.group"
RUN_COMMAND = "from group_coordinator.cli.main import main; main()"


def new_member_id(salt: str, event_id: str) -> str:
    """The uuid text of a new member id on both sides: of version 4 as Kafka's, but from the event's coordinates."""
    digest = hashlib.sha1(f"{salt}{event_id}".encode(), usedforsecurity=False).digest()
    return str(UUID(bytes=digest[:16], version=4))


class Coordinator(Protocol):
    """A coordinator that can be asked what it does."""

    def begin(self, overrides: Mapping[str, str], salt: str | None) -> None:
        """Forget everything and go on with these settings; a salt makes new member ids those of new_member_id."""

    def say(self, line: str) -> list[Json]:
        """Hand over one line and collect what comes of it."""


class Ours:
    """Our state machine, in this process."""

    def begin(self, overrides: Mapping[str, str], salt: str | None) -> None:
        new_id = fresh_id if salt is None else partial(new_member_id, salt)
        self._replay = RestartingReplay(overrides, new_id)

    def say(self, line: str) -> list[Json]:
        *outputs, done = self._replay.line(line)
        assert done == {"kind": "done"}
        return outputs


class NoCompilerError(Exception):
    """There is at most a JRE here, no JDK."""


class Process:
    """A program that answers each line with lines, the last of them {"kind": "done"}."""

    def __init__(self, command: Sequence[str], log: IO[bytes]) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(  # noqa: S603 - a fixed program
            command, stdin=pipe, stdout=pipe, stderr=log, encoding="utf-8"
        )

    def say(self, line: str) -> list[Json]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        outputs: list[Json] = []
        for answer in self._process.stdout:
            output = json.loads(answer)
            if output["kind"] == "done":
                return outputs
            outputs.append(output)
        raise EOFError(f"it ended with status {self._process.wait(timeout=30)}")

    def close(self) -> None:
        self._process.communicate(timeout=30)  # the end of its input ends it


class Oracle:
    """Kafka's coordinator in a process of its own, for any number of scripts."""

    def __init__(self, log: IO[bytes]) -> None:
        self._process = kafka_program("KafkaOracle", log)

    def begin(self, overrides: Mapping[str, str], salt: str | None) -> None:
        self.say(json.dumps({"settings": dict(overrides), "ids": salt}))

    def say(self, line: str) -> list[Json]:
        return self._process.say(line)

    def meters(self) -> dict[str, int]:
        """What Kafka's meters have counted since `begin`, by the beginning of their names."""
        [answer] = self.say('{"meters": true}')
        return dict(answer["counts"])

    def close(self) -> None:
        self._process.close()


class Command:
    """Ours as others meet it: `group-coordinator replay-events` in a process of its own, for one script."""

    def __init__(self, log: IO[bytes]) -> None:
        self._log = log

    def begin(self, overrides: Mapping[str, str], salt: str | None) -> None:
        assert salt is None
        start = f"import sys; sys.path[:] = {sys.path}; {RUN_COMMAND}"
        chosen = (f"--set={key}={value}" for key, value in overrides.items())
        command = [sys.executable, "-c", start, "replay-events", *chosen]
        self._process = Process(command, self._log)

    def say(self, line: str) -> list[Json]:
        return self._process.say(line)

    def close(self) -> None:
        self._process.close()


def kafka_program(name: str, log: IO[bytes]) -> Process:
    """Start a program of the folder `oracle`, which calls Kafka's classes. Raises NoCompilerError without a JDK."""
    return java_program(SOURCES / f"{name}.java", f"{PACKAGE}.{name}", broker_jars(), log)


def java_program(
    source: Path, main_class: str, jars: Sequence[Path], log: IO[bytes], *options: str
) -> Process:
    """Start a program from its source. Raises NoCompilerError without a JDK."""
    class_path = _class_path([_compiled(source, jars), *jars])
    usual = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
    return Process([java(), *usual, *options, "-cp", class_path, main_class], log)


def _compiled(source: Path, jars: Sequence[Path]) -> Path:
    """Compile a program, once for this source and these jars; give the folder of its classes."""
    javac = Path(java()).with_name("javac")
    if not javac.exists():
        raise NoCompilerError(f"no {javac}: Kafka's own classes need a JDK, not only a JRE")
    fingerprint = hashlib.sha256(source.read_bytes())
    fingerprint.update(" ".join(jar.name for jar in jars).encode())
    classes = cache_folder("oracle") / fingerprint.hexdigest()[:12]
    if not classes.exists():
        building = Path(mkdtemp(dir=classes.parent))
        options = ("-nowarn", "-Xlint:none", "-cp", _class_path(jars), "-d", str(building))
        subprocess.run([javac, *options, source], check=True, capture_output=True)  # noqa: S603 - a fixed program
        with suppress(OSError):  # another process was faster: its classes are there
            building.rename(classes)
        rmtree(building, ignore_errors=True)
    return classes


def _class_path(entries: Sequence[Path]) -> str:
    return os.pathsep.join(map(str, entries))
