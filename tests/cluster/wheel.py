"""The wheel, as a user installs it: built from the checkout, unpacked away from it, with the scripts for spark-submit."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.job_process import ROOT


def installed_wheel(folder: Path) -> Path:
    """A folder for PYTHONPATH with nothing in it but the wheel; the scripts are in `jobs` beside it."""
    wheels, packages = folder / "wheels", folder / "packages"
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    source = folder / "source"
    # The build leaves files behind.
    shutil.copytree(
        ROOT, source, symlinks=True, ignore=shutil.ignore_patterns(".git", ".venv", "*.egg-info")
    )
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", wheels, source], check=True)
    (wheel,) = wheels.glob("*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", packages, wheel], check=True)
    shutil.copytree(ROOT / "jobs", folder / "jobs")
    return packages
