"""The two coordinators that a script is played to: Kafka's own classes, and ours."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Protocol, Self

from tests.conformance.lines import Json, Story

ORACLE_SOURCE = Path(__file__).parent / "oracle" / "KafkaOracle.java"
ORACLE_CLASS = "org.apache.kafka.coordinator.group.KafkaOracle"


class Witness(Protocol):
    """A coordinator that can be asked what it does."""

    def begin(self, settings: Mapping[str, str]) -> None:
        """Forget everything and go on with these settings."""

    def say(self, line: str) -> list[Json]:
        """Hand over one line and collect what comes of it."""


class NoCompilerError(Exception):
    """There is no JDK here, at most a JRE."""


def compiled_oracle(jars: Sequence[Path], cache: Path) -> Path:
    """Compile the oracle once for these jars and give the folder of its classes."""
    javac = shutil.which("javac")
    if javac is None:
        raise NoCompilerError("javac not found: Kafka's own classes need a JDK 17, not only a JRE")
    fingerprint = hashlib.sha256(ORACLE_SOURCE.read_bytes())
    fingerprint.update(":".join(sorted(jar.name for jar in jars)).encode())
    classes = cache / f"oracle-{fingerprint.hexdigest()[:16]}"
    if not classes.exists():
        building = classes.with_suffix(f".{os.getpid()}")
        subprocess.run(
            [javac, "-nowarn", "-Xlint:none", "-cp", class_path(jars), "-d", building, ORACLE_SOURCE],
            check=True,
            capture_output=True,
        )
        building.rename(classes)
    return classes


def class_path(entries: Sequence[Path]) -> str:
    return os.pathsep.join(str(entry) for entry in entries)


class Oracle:
    """Kafka's coordinator in a process of its own, for any number of scripts."""

    def __init__(self, classes: Path, jars: Sequence[Path], errors: IO[bytes]) -> None:
        command = ["java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        command += ["-cp", class_path([classes, *jars]), ORACLE_CLASS]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate(timeout=30)

    def begin(self, settings: Mapping[str, str]) -> None:
        self.say(json.dumps({"settings": dict(settings)}))

    def say(self, line: str) -> list[Json]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        outputs: list[Json] = []
        while True:
            answer = self._process.stdout.readline()
            if not answer:
                raise EOFError(f"the oracle ended with status {self._process.wait(timeout=30)}")
            output = json.loads(answer)
            if output["kind"] == "done":
                return outputs
            outputs.append(output)


class Transcript:
    """What a story's lines brought about, and the names of the ids that were given on the way."""

    def __init__(self) -> None:
        self.outputs: list[list[Json]] = []
        self.names: dict[str, str] = {}


def play(story: Story, witness: Witness) -> Transcript:
    """Play a story from its first line to its last."""
    transcript = Transcript()
    learners: dict[str, str] = {}
    witness.begin(story.settings)
    for line in story.lines:
        if line.learns:
            learners[line.text["event"]["correlationId"]] = line.learns
        text = json.dumps(line.text)
        for member_id, name in transcript.names.items():
            text = text.replace(json.dumps(f"${name}"), json.dumps(member_id))
        outputs = witness.say(text)
        for output in outputs:
            name = learners.get(output.get("correlationId", ""))
            if name and output["body"]["memberId"]:
                transcript.names[output["body"]["memberId"]] = name
        transcript.outputs.append(outputs)
    return transcript
