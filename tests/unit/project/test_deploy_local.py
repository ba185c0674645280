from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TOOLS = ("bash", "cat", "cksum", "dirname", "env", "head", "sed")
JAVA_17 = 'echo "openjdk version \\"17.0.15\\" 2025-04-15" >&2'
JAVA_8 = 'echo "java version \\"1.8.0_392\\"" >&2'
JAVA_25 = 'echo "openjdk version \\"25\\" 2025-09-16" >&2'


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A bare checkout, and a PATH on which there is neither Python nor Java."""
    for name in ("deploy", "conf"):
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    programs = tmp_path / "bin"
    programs.mkdir()
    for tool in TOOLS:
        (programs / tool).symlink_to(str(shutil.which(tool)))
    return tmp_path


def install(machine: Path, name: str, script: str) -> None:
    program = machine / "bin" / name
    program.write_text(f"#!/usr/bin/env bash\n{script}\n", encoding="utf-8")
    program.chmod(0o755)


def run_demo(machine: Path) -> tuple[int, str]:
    done = subprocess.run(
        ["bash", "deploy/local", "demo"],
        cwd=machine,
        env={"PATH": str(machine / "bin"), "HOME": str(machine)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


def test_java_is_missing(machine: Path) -> None:
    assert run_demo(machine) == (
        2,
        "Java is missing: install Java 17 or 21, or set JAVA_HOME to it.\n",
    )


def test_java_is_too_old(machine: Path) -> None:
    install(machine, "java", JAVA_8)

    assert run_demo(machine) == (
        2,
        "Java 8 is too old: install Java 17 or 21, or set JAVA_HOME to it.\n",
    )


def test_java_is_too_new(machine: Path) -> None:
    install(machine, "java", JAVA_25)

    assert run_demo(machine) == (
        2,
        "Java 25 is too new for Spark 4.0: install Java 17 or 21, or set JAVA_HOME to it.\n",
    )


def test_python_is_missing(machine: Path) -> None:
    install(machine, "java", JAVA_17)

    assert run_demo(machine) == (
        2,
        "Python 3.11, 3.12 or 3.13 is missing (found: none): install one of them.\n",
    )


def test_no_python_fits(machine: Path) -> None:
    install(machine, "java", JAVA_17)
    install(machine, "python3", "echo 3.14")
    install(machine, "python3.11", "echo 3.10")

    assert run_demo(machine) == (
        2,
        "Python 3.11, 3.12 or 3.13 is missing (found: 3.14, 3.10): install one of them.\n",
    )


def test_python_has_no_venv(machine: Path) -> None:
    install(machine, "java", JAVA_17)
    install(machine, "python3", 'case $2 in *venv*) exit 1 ;; esac; echo "3.11"')

    status, said = run_demo(machine)

    assert status == 2
    assert said.startswith("Python 3.11 has no venv module: install it")
