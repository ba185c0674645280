"""Does a test notice when a rule of the core is wrong?

    python -m tests.mutations [--jobs 2] [NAME]...

Every flip (flips.py) is made in a copy of lib, alone, and the fast tests run against that copy; a test that fails kills
the flip. NAME is a part of a flip's name. The status is 1 if a flip survives, or has not got exactly one place.

Two controls come first and show that it is the copy that is tested: as it is, it passes; when it is no Python, the tests
cannot even be collected.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
from rich.console import Console
from rich.progress import track
from rich.table import Column, Table
from rich.text import Text

from tests.mutations.flip import Flip
from tests.mutations.flips import FLIPS

ROOT = Path(__file__).parents[2]
CORE = Path("group_coordinator", "core")
# Neither Spark nor Kafka nor Java; those that kill most in the shortest time come first.
FAST_TESTS = (
    "tests/unit/core",
    "tests/unit/testing/test_driver.py",
    "tests/conformance/test_scripts.py::test_we_tell_the_story",
    "tests/property",
)
OPTIONS = ("-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0")
FAILED = re.compile(r"^(?:FAILED|ERROR) (?:[\w/]*/)?(?P<test>.+?)(?: - .*)?$", re.MULTILINE)
PATIENCE_S = 120.0

NO_PYTHON = Flip("no Python", "coordinator.py", "def handle(\n", "def handle(:\n")


class Trial(NamedTuple):
    """What pytest said; `status` is None if it was not done in time."""

    status: int | None
    output: str
    seconds: float

    @property
    def is_killed(self) -> bool:
        """Only a test that fails kills: a core that cannot be imported would prove nothing."""
        return self.status == pytest.ExitCode.TESTS_FAILED

    @property
    def verdict(self) -> str:
        """The test that failed first, or why none did."""
        if self.is_killed:
            found = FAILED.search(self.output)
            return found["test"] if found else "?"
        if self.status == pytest.ExitCode.OK:
            return "SURVIVED"
        return (
            "NOT DONE IN TIME"
            if self.status is None
            else f"BROKEN: pytest ended with {self.status}"
        )


def main() -> None:
    asked = arguments()
    flips = [flip for flip in FLIPS if any(part in flip.name for part in asked.names or [""])]
    if not flips:
        sys.exit(f"no flip is named like {asked.names}")
    with TemporaryDirectory(prefix="mutations-") as folder:
        lib = Path(folder, "lib")
        shutil.copytree(ROOT / "lib", lib, ignore=shutil.ignore_patterns("__pycache__"))
        check_places(flips, lib)
        check_controls(lib)
        with ThreadPoolExecutor(asked.jobs) as pool:
            running = pool.map(partial(trial, lib), flips)
            console = Console(stderr=True)
            trials = list(track(running, "Flipping", total=len(flips), console=console))
    report(flips, trials)
    sys.exit(0 if all(tried.is_killed for tried in trials) else 1)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Flip rules of the core, one by one.")
    parser.add_argument("--jobs", type=int, default=1, help="how many flips to try at a time")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only flips named like this")
    return parser.parse_args()


def check_places(flips: Sequence[Flip], lib: Path) -> None:
    for flip in flips:
        try:
            flip.of((lib / CORE / flip.file).read_text(encoding="utf-8"))
        except ValueError as error:
            sys.exit(str(error))


def check_controls(lib: Path) -> None:
    unflipped, broken = trial(lib, None), trial(lib, NO_PYTHON)
    if unflipped.status != pytest.ExitCode.OK:
        sys.exit(f"{unflipped.output}\nthe tests have to pass before anything is flipped")
    if "SyntaxError" not in broken.output:
        sys.exit(
            f"{broken.output}\nthe tests do not import the copy: a core that is no Python passes"
        )


def trial(lib: Path, flip: Flip | None) -> Trial:
    """Run the tests against a copy of lib with one flip, or with none."""
    start = time.monotonic()
    with TemporaryDirectory(prefix="flip-") as folder:
        copy = Path(folder, "lib")
        shutil.copytree(lib, copy)
        if flip is not None:
            file = copy / CORE / flip.file
            file.write_text(flip.of(file.read_text(encoding="utf-8")), encoding="utf-8")
        status, output = run_tests(copy, Path(folder))
    return Trial(status, output, time.monotonic() - start)


def run_tests(lib: Path, folder: Path) -> tuple[int | None, str]:
    paths = [str(lib), str(ROOT)]
    environment = os.environ | {
        "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "hypothesis"),  # its finds are of no use later
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.pathsep.join(paths),
    }
    # pyproject.toml would put our own lib before all others.
    import_from = f"pythonpath={shlex.join(paths)}"
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program
            [sys.executable, "-m", "pytest", *OPTIONS, "-o", import_from, *FAST_TESTS],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout


def report(flips: Sequence[Flip], trials: Sequence[Trial]) -> None:
    table = Table("flip", Column("killed by", overflow="fold"), Column("s", justify="right"))
    for flip, tried in zip(flips, trials, strict=True):
        style = None if tried.is_killed else "bold red"
        # As text: a test's parameters in brackets are no markup.
        table.add_row(flip.name, Text(tried.verdict), f"{tried.seconds:.1f}", style=style)
    killed = sum(tried.is_killed for tried in trials)
    console = Console()
    console.print(table)
    console.print(f"{killed} of {len(trials)} flips killed")


if __name__ == "__main__":
    main()
