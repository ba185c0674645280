"""The wheel, as a user installs it: built from the checkout, away from it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.job_process import ROOT

_PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")


def installed_wheel(folder: Path) -> Path:
    """A folder for PYTHONPATH with nothing in it but the wheel; the scripts for spark-submit are in `jobs` beside it."""
    packages = folder / "packages"
    wheel = built_wheel(folder)
    subprocess.run([*_PIP, "install", "--no-deps", "--target", packages, wheel], check=True)  # noqa: S603 - a fixed program
    shutil.copytree(ROOT / "jobs", folder / "jobs")
    return packages


def built_wheel(folder: Path) -> Path:
    """The wheel, in a folder of its own in this one."""
    wheels, source = folder / "wheels", folder / "source"
    # The build leaves files behind.
    shutil.copytree(
        ROOT, source, symlinks=True, ignore=shutil.ignore_patterns(".git", ".venv", "*.egg-info")
    )
    subprocess.run([*_PIP, "wheel", "--no-deps", "--wheel-dir", wheels, source], check=True)  # noqa: S603 - a fixed program
    (wheel,) = wheels.glob("*.whl")
    return wheel
