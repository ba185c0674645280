from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from group_coordinator.cli.main import COMMANDS

ROOT = Path(__file__).parents[3]
TOOLS = ("bash", "cat", "cksum", "dirname", "env", "head", "mkdir", "mktemp", "nice", "rm", "sed")
JAVA_17 = 'echo "openjdk version \\"17.0.15\\" 2025-04-15" >&2'
JAVA_8 = 'echo "java version \\"1.8.0_392\\"" >&2'
JAVA_25 = 'echo "openjdk version \\"25.0.3\\" 2026-04-21" >&2'
JAVA_26 = 'echo "openjdk version \\"26\\" 2026-03-17" >&2'


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


def called(machine: Path, *command: str) -> subprocess.CompletedProcess[str]:
    temporary = machine / "tmp"
    temporary.mkdir(exist_ok=True)
    return subprocess.run(  # noqa: S603 - a fixed program
        command,
        cwd=machine,
        env={"PATH": str(machine / "bin"), "HOME": str(machine), "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        check=False,
    )


def run(machine: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return called(machine, "bash", "deploy/local", *arguments)


def run_demo(machine: Path) -> tuple[int, str]:
    done = run(machine, "demo")
    return done.returncode, done.stderr


@pytest.fixture
def installed(machine: Path) -> Path:
    """A machine where everything is installed; what would be run is only printed."""
    install(machine, "java", JAVA_17)
    programs = machine / ".venv" / "bin"
    programs.mkdir(parents=True)
    checkers = ("pytest", "ruff", "mypy", "lint-imports", "coverage")
    for name in ("group-coordinator", "python", *checkers):
        (programs / name).write_text(f"#!/usr/bin/env bash\necho {name} $*\n", encoding="utf-8")
        (programs / name).chmod(0o755)
    stamp = "pwd && cat pyproject.toml conf/constraints.txt | cksum"
    text = subprocess.run(  # noqa: S603 - a fixed program
        ["bash", "-c", stamp],  # noqa: S607 - a fixed program
        cwd=machine,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for part in (".stamp", ".jars"):
        (machine / ".venv" / part).write_text(text, encoding="utf-8")
    return machine


def test_it_prints_its_targets(machine: Path) -> None:
    asked = run(machine, "--help")
    unasked = run(machine)

    assert (asked.returncode, asked.stderr) == (0, "")
    assert (unasked.returncode, unasked.stdout) == (2, "")
    assert asked.stdout == unasked.stderr
    for target in (*COMMANDS, "test fast", "test spark", "lint"):
        assert re.search(rf"(local |[ ,]){target}\b", asked.stdout)


def programs_in(output: str) -> list[str]:
    lines = [" ".join(line.split()) for line in output.splitlines()]
    return [line for line in lines if line and not line.startswith("== ")]


LINT = ["ruff format --check", "ruff check", "mypy", "lint-imports"]


@pytest.mark.parametrize(
    ("arguments", "programs"),
    [
        (["groups", "--list"], ["group-coordinator groups --list"]),
        (["lint"], LINT),
        (["test", "fast"], ["pytest tests/unit tests/property tests/conformance"]),
        (["test", "fast", "-x"], ["pytest tests/unit tests/property tests/conformance -x"]),
        (["test", "spark"], ["pytest -m spark"]),
        (["test", "tests/unit", "-x"], ["pytest -m tests/unit -x"]),
    ],
)
def test_a_target_runs_its_programs(
    installed: Path, arguments: list[str], programs: list[str]
) -> None:
    done = run(installed, *arguments)

    assert (done.returncode, done.stderr) == (0, "")
    assert programs_in(done.stdout) == programs


@pytest.mark.parametrize(("target", "which"), [((), " and not nightly"), (("nightly",), "")])
def test_all_is_checked_by_night_and_without_a_target_all_but_long_scenes(
    installed: Path, target: tuple[str, ...], which: str
) -> None:
    programs = programs_in(run(installed, "test", *target).stdout)

    assert programs[:4] == LINT
    tests = [program for program in programs[4:] if program.startswith("pytest")]
    assert [re.search("-m (.*?) --|$", program)[1] for program in tests] == [
        f"not (spark or kafka or oracle){which}",
        f"spark{which}",
        f"(kafka or oracle) and not spark{which}",
    ]


@pytest.mark.parametrize("marked", ["-m spark", "(kafka or oracle) and not spark"])
def test_the_tests_that_run_beside_others_count_too(installed: Path, marked: str) -> None:
    program = installed / ".venv" / "bin" / "pytest"
    program.write_text(f'#!/usr/bin/env bash\n[[ "$*" != *"{marked}"* ]]\n', encoding="utf-8")

    assert run(installed, "test").returncode == 1


def test_one_failure_does_not_hide_what_ran_beside_it(installed: Path) -> None:
    program = installed / ".venv" / "bin" / "pytest"
    program.write_text(
        '#!/usr/bin/env bash\necho "told $*"; [[ "$*" != *"-m spark"* ]]\n', encoding="utf-8"
    )

    done = run(installed, "test")

    assert done.returncode == 1
    assert "told -m (kafka or oracle) and not spark" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "fetches"),
    [
        (["groups", "--list"], True),
        (["test", "spark"], True),
        (["test", "tests/unit"], True),
        (["--version"], False),
        (["lint"], False),
        (["test", "fast"], False),
    ],
)
def test_who_starts_no_java_does_not_wait_for_jars(
    installed: Path, arguments: list[str], *, fetches: bool
) -> None:
    (installed / ".venv" / ".jars").unlink()

    first, second = (run(installed, *arguments).stderr for _ in range(2))

    assert first == ("python -P -m group_coordinator.local.jars\n" if fetches else "")
    assert second == ""


def test_what_is_temporary_goes_with_the_run_and_with_the_next_one(installed: Path) -> None:
    with subprocess.Popen(["true"]) as killed:  # noqa: S607 - a fixed program
        killed.wait()
    left = installed / "tmp" / "group-coordinator-test.of-a-killed-run"
    left.mkdir(parents=True)
    (left / "pid").write_text(f"{killed.pid}\n", encoding="utf-8")
    running = installed / "tmp" / "group-coordinator-test.of-another-run"
    running.mkdir()
    (running / "pid").write_text(f"{os.getpid()}\n", encoding="utf-8")
    says_its_folder(installed)

    used = Path(run(installed, "test", "fast").stdout.split()[-1])

    assert used.parent == left.parent
    assert list(left.parent.iterdir()) == [running]


def says_its_folder(machine: Path) -> None:
    """Of the tests, with its mode."""
    program = machine / ".venv" / "bin" / "pytest"
    program.write_text(
        f'#!/usr/bin/env bash\n{shutil.which("stat")} -c %a "$TMPDIR"; echo "$TMPDIR"\n',
        encoding="utf-8",
    )


def test_a_folder_that_a_stranger_made_for_the_run_is_not_taken(installed: Path) -> None:
    says_its_folder(installed)
    plant = (
        'mkdir -m 777 "$TMPDIR/group-coordinator-test-$UID.$$"; exec bash deploy/local test fast'
    )

    done = called(installed, "bash", "-c", plant)

    mode, used = done.stdout.split()[-2:]
    assert (mode, done.returncode) == ("700", 0)
    [planted] = (installed / "tmp").iterdir()
    assert Path(used) != planted
    assert Path(used).parent == planted.parent


@pytest.mark.parametrize(
    ("java", "why"),
    [
        (None, "Java is missing"),
        (JAVA_8, "Java 8 is too old"),
        (JAVA_26, "Java 26 is too new for Spark 4.2"),
    ],
    ids=["missing", "too old", "too new"],
)
def test_no_java_fits(machine: Path, java: str | None, why: str) -> None:
    if java is not None:
        install(machine, "java", java)

    assert run_demo(machine) == (
        2,
        f"{why}: install Java 17, 21 or 25, or set JAVA_HOME to it.\n",
    )


@pytest.mark.parametrize("java", [JAVA_17, JAVA_25])
def test_python_is_missing(machine: Path, java: str) -> None:
    install(machine, "java", java)

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
    install(machine, "python3", 'case $3 in *venv*) exit 1 ;; esac; echo "3.11"')

    status, said = run_demo(machine)

    assert status == 2
    assert said.startswith("Python 3.11 has no venv module: install it")


def test_java_takes_no_classes_that_a_stranger_left_in_the_temporary_folder(tmp_path: Path) -> None:
    archive = tmp_path / "classes" / "job.jsa"
    archive.parent.mkdir()
    archive.touch()
    told = "import os, tests.conftest; print(os.environ['SPARK_SUBMIT_OPTS'])"
    without = {name: text for name, text in os.environ.items() if name != "SPARK_SUBMIT_OPTS"}

    options, ours = (
        subprocess.run(  # noqa: S603 - a fixed program
            [sys.executable, "-c", told],
            cwd=ROOT,
            env={**without, "CLASS_ARCHIVES": "", "TMPDIR": str(tmp_path), **given},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for given in ({}, {"CLASS_ARCHIVES": str(archive.parent)})
    )

    assert "SharedArchiveFile" not in options
    assert f'-XX:SharedArchiveFile="{archive}"' in ours
