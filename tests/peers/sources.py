"""Sources of other projects, as their package registries have them: fetched once, into the user's cache."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from group_coordinator.local.folders import cache_folder, only_one_process
from tests.peers.suite import NotObtainableError

_TIMEOUT_S = 1_200
_SAID_LINES = 10


def once(name: str, make: Callable[[Path], None]) -> Path:
    """A folder of the cache that `make` fills; its name has the version, and what is in it never changes."""
    cache = cache_folder("peers")
    folder = cache / name
    if not folder.is_dir():
        with only_one_process(cache / ".lock"):
            if not folder.is_dir():
                _make(name, make, folder)
    return folder


def _make(name: str, make: Callable[[Path], None], folder: Path) -> None:
    print(f"Fetching {name} (once)", file=sys.stderr)  # noqa: T201
    with TemporaryDirectory(dir=folder.parent, prefix=f"{name}-") as scratch:
        built = Path(scratch, "built")
        built.mkdir()
        make(built)
        built.rename(folder)


def needed(program: str) -> str:
    """Where a program of a toolchain is.

    Raises:
        NotObtainableError: it is not installed.
    """
    found = shutil.which(program)
    if found is None:
        raise NotObtainableError(f"{program} is not installed")
    return found


def do(command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> None:
    """Run a step of a build.

    Raises:
        NotObtainableError: it fails.
    """
    done = subprocess.run(  # noqa: S603 - a fixed program
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=_TIMEOUT_S,
    )
    if done.returncode != 0:
        said = done.stdout.strip().splitlines()[-_SAID_LINES:]
        raise NotObtainableError("\n".join([f"{' '.join(command)} failed:", *said]))


def python_source(package: str, version: str, folder: Path) -> None:
    """Unpack a source distribution; its own top folder is left out."""
    with TemporaryDirectory(dir=folder.parent) as scratch:
        pip = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps")
        do([*pip, "--no-binary", package, f"{package}=={version}"], Path(scratch))
        [archive] = Path(scratch).glob("*.tar.gz")
        with tarfile.open(archive) as packed:
            packed.extractall(scratch, filter="data")
        [top] = (path for path in Path(scratch).iterdir() if path.is_dir())
        for path in top.iterdir():
            path.rename(folder / path.name)


def python_packages(requirements: Sequence[str], folder: Path) -> None:
    """Install packages in a folder of their own."""
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder))
    do([*pip, *requirements], folder)


def crate_source(crate: str, version: str, folder: Path) -> None:
    """The source of a crate, with the submodules that it carries."""
    cargo = needed("cargo")
    with TemporaryDirectory(dir=folder.parent) as scratch:
        (Path(scratch) / "src").mkdir()
        (Path(scratch) / "src" / "lib.rs").touch()
        (Path(scratch) / "Cargo.toml").write_text(
            '[package]\nname = "peers"\nversion = "0.0.0"\nedition = "2021"\n'
            f'[dependencies]\n{crate} = "={version}"\n',
            encoding="utf-8",
        )
        do([cargo, "vendor", "--quiet"], Path(scratch))
        shutil.copytree(Path(scratch, "vendor", crate), folder, dirs_exist_ok=True)
