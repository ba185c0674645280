"""The steps of the kills change functions that exist: the kills themselves are a program of their own."""

from __future__ import annotations

import subprocess
import sys

CHANGES = """
from pathlib import Path
from tests.faults.mirror_steps import MIRROR_STEPS
from tests.faults.steps import STEPS, Trigger
for name, step in (STEPS | MIRROR_STEPS).items():
    print(name, flush=True)
    step(Trigger(0, Path("killed")))
"""


def test_each_step_finds_its_functions() -> None:
    # In a process of its own, as the job stays changed.
    subprocess.run([sys.executable, "-c", CHANGES], check=True)  # noqa: S603 - a fixed program
