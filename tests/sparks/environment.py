"""A virtual environment with one PySpark and the wheel, without the extra `local`: as beside a platform's own Spark."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.job_process import ROOT

CONSTRAINTS = ROOT / "conf" / "constraints.txt"
_CHOSEN_HERE = ("pyspark==", "delta_spark==")
_FOR_THE_TESTS = ("chispa", "confluent-kafka", "hypothesis", "importlib_metadata", "pytest", "rich")
"""And importlib_metadata, which Delta's package needs."""
_OF_SPARK = ("PYTHONPATH", "PYSPARK_", "SPARK_")
_LINES_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Environment:
    """Made by `made`."""

    version: str
    folder: Path

    def run(self, arguments: Sequence[str | Path], *path: Path) -> subprocess.CompletedProcess[str]:
        """Run its Python with these folders for PYTHONPATH; what it says is kept."""
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(_OF_SPARK)}
        environment = {
            **inherited,
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join(map(str, path)),
            "SPARK_LOCAL_IP": "127.0.0.1",
        }
        return subprocess.run(  # noqa: S603 - a fixed program
            [self.folder / "bin" / "python", *arguments],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def pip(self, *arguments: str | Path) -> None:
        """Raises RuntimeError with the last lines of what pip says."""
        done = self.run(
            ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments]
        )
        if done.returncode != 0:
            raise RuntimeError("\n".join(done.stderr.splitlines()[-_LINES_SHOWN:]))


def made(folder: Path, version: str, delta: str, wheel: Path) -> Environment:
    """One in this folder; another run may have left it there, then only the wheel is installed anew."""
    environment = Environment(version, folder / version)
    constraints = folder / f"constraints-{version}.txt"
    lines = CONSTRAINTS.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if not line.startswith(_CHOSEN_HERE)]
    constraints.write_text("\n".join(kept), encoding="utf-8")
    if not (environment.folder / "bin" / "pip").exists():
        subprocess.run([sys.executable, "-m", "venv", environment.folder], check=True)  # noqa: S603 - a fixed program
    environment.pip("--constraint", constraints, f"pyspark=={version}", *_FOR_THE_TESTS, wheel)
    environment.pip("--no-deps", "--force-reinstall", wheel)
    # It says which PySparks it is for, and another one is what is tried here.
    environment.pip("--no-deps", f"delta-spark=={delta}")
    return environment
