"""Programs that `go install` builds once into the user's cache.

python -m tests.support.go_programs NAME...
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from group_coordinator.local.folders import cache_folder, only_one_process

_PROGRAMS = {
    "versitygw": ("github.com/versity/versitygw/cmd/versitygw", "v1.8.0"),
    "helm": ("helm.sh/helm/v3/cmd/helm", "v3.22.0"),
    "actionlint": ("github.com/rhysd/actionlint/cmd/actionlint", "v1.7.12"),
}
"""Module and version by name."""


class GoMissingError(RuntimeError):
    """A program cannot be built."""


def go_program(name: str) -> Path:
    """Return the program, built if the cache does not have it.

    Raises:
        GoMissingError: there is no Go, or it cannot fetch or build the program.
    """
    module, version = _PROGRAMS[name]
    folder = cache_folder("go") / f"{name}-{version}"
    program = folder / name
    with only_one_process(folder.with_suffix(".lock")):
        if not program.exists():
            go = shutil.which("go")
            if go is None:
                raise GoMissingError(f"{name} is built by Go, which is missing")
            environment = {**os.environ, "GOBIN": str(folder), "GOFLAGS": ""}
            command = [go, "install", f"{module}@{version}"]
            if subprocess.run(command, env=environment, check=False).returncode:  # noqa: S603 - a fixed program
                raise GoMissingError(f"{name} is built by Go, which failed")
    return program


if __name__ == "__main__":
    for each in sys.argv[1:]:
        go_program(each)
