"""What is tried with one PySpark, and what came of it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from tempfile import TemporaryDirectory
from typing import Any

from group_coordinator.streaming.operator.known_pyspark import SEEN
from group_coordinator.streaming.spark_lines import UnknownSparkError, line_of
from tests.sparks.environment import Environment
from tests.support.job_process import ROOT

TESTS = (
    "tests/spark/test_exchange.py",
    "tests/spark/test_shared_workers.py",
    "tests/spark/test_checkpoint_folder.py",
    "tests/spark/test_compaction.py",
    "tests/spark/test_golden.py",
    "tests/spark/test_mirror.py",
    "tests/spark/test_rebuild.py",
    "tests/unit/streaming/operator/test_known_pyspark.py",
)
"""What depends most on what is Spark's own: exchanges, workers, files of checkpoints, types, checkpoints of earlier versions."""
TESTS_OF_THE_EXCHANGE = (
    "tests/sparks/exchange_alone.py",
    "tests/unit/streaming/operator/test_known_pyspark.py",
    "tests/unit/streaming/operator/test_lean_exchange.py",
)
"""What PySpark alone is enough for."""

_NEWEST_DELTA, _DELTA_OF_SPARK_3 = "4.4.0", "3.3.3"
_LINES_SHOWN = 15
_SUBMITTED = "from group_coordinator.cli.submitted import main; main()"
"""Without jars, as a wheel beside a platform's Spark that has none."""
_REFUSED = r"Error: PySpark {} is (none of those|newer than .* it has no Kafka connector) "


@dataclass
class Trial:
    """One row of the table."""

    version: str
    connector: str = "none"
    token_provider: str = "none"  # noqa: S105 - a version
    delta: str = "none"
    ran: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, version: str) -> Trial:
        """Nothing was tried so far."""
        try:
            line = line_of(version)
        except UnknownSparkError:
            return cls(version)
        jars = (line.connector, line.token_provider, line.delta)
        return cls(version, *(jar.split(":")[-1] for jar in jars))

    @property
    def is_known(self) -> bool:
        return self.connector != "none"

    @property
    def delta_package(self) -> str:
        """The version of Delta's Python package: the job imports it before it refuses anything."""
        if self.is_known:
            return self.delta
        return _DELTA_OF_SPARK_3 if self.version.startswith("3.") else _NEWEST_DELTA

    @property
    def verdict(self) -> str:
        return "; ".join(self.problems) or (
            "works" if self.is_known else "refused, as it should be"
        )


def tried(trial: Trial, environment: Environment) -> Trial:
    """Run what there is for this version."""
    if not trial.is_known:
        _refused(trial, environment)
        if trial.version in SEEN.values():
            _tests(trial, environment, TESTS_OF_THE_EXCHANGE)
        return trial
    _life(trial, environment, "disk")
    if line_of(trial.version).s3:
        _life(trial, environment, "s3")
    _tests(trial, environment, TESTS)
    return trial


def fetch_jars(environment: Environment) -> None:
    """So that nothing waits for the network later."""
    done = environment.run(["-m", "group_coordinator.local.jars"])
    if done.returncode != 0:
        raise RuntimeError(done.stderr)


def _refused(trial: Trial, environment: Environment) -> None:
    trial.ran.append("start")
    with TemporaryDirectory() as folder:
        command = ["-c", _SUBMITTED, "compact", "--drain"]
        done = environment.run([*command, "--set", f"tables.root={folder}/tables"])
    said = done.stderr.strip().splitlines()
    if done.returncode != 1 or not re.match(_REFUSED.format(trial.version), said[-1]):
        trial.problems.append(f"status {done.returncode}: {done.stderr[-300:]}")


def _life(trial: Trial, environment: Environment, store: str) -> None:
    life = f"life on {store}"
    trial.ran.append(life)
    with TemporaryDirectory(prefix="life-") as folder:
        done = environment.run(["-m", "tests.sparks.life", folder, store], ROOT)
    if done.returncode != 0:
        trial.problems.append(_last_lines(life, done.stdout + done.stderr))
        return
    result = json.loads(done.stdout.splitlines()[-1])
    trial.problems += [f"{life}: {problem}" for problem in result["problems"]]
    trial.figures["exchange"] = result["figures"].pop("exchange")
    trial.figures[life] = result["figures"] | {"lost": result["lost"], "doubled": result["doubled"]}


def _tests(trial: Trial, environment: Environment, tests: Sequence[str]) -> None:
    trial.ran.append("tests")
    # Not the checkout's lib, which pytest would put in front of the wheel.
    options = ["-q", "-m", "", "-o", "pythonpath=.", "-p", "no:logging", "-p", "no:cacheprovider"]
    done = environment.run(["-m", "pytest", *options, *tests], ROOT)
    said = done.stdout.splitlines()
    trial.figures["tests"] = said[-1] if said else ""
    if done.returncode != 0:
        trial.problems.append(_last_lines("tests", done.stdout + done.stderr))


def _last_lines(what: str, said: str) -> str:
    return "\n".join([f"{what}:", *said.splitlines()[-_LINES_SHOWN:]])


def as_json(trials: list[Trial]) -> str:
    return json.dumps([asdict(trial) for trial in trials])
