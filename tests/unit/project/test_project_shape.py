from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from dataclasses import fields
from importlib.metadata import packages_distributions
from itertools import pairwise
from pathlib import Path

import pytest

from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.security import Security
from group_coordinator.settings import DEFAULTS, JobSettings

ROOT = Path(__file__).parents[3]
SOURCES = sorted(path.relative_to(ROOT) for path in ROOT.glob("lib/**/*.py"))
UNIT_TESTS = ROOT / "tests" / "unit"
ABOUT_THE_PROJECT = {"project", "support"}
ROOMS = sorted(
    {str(path.parent.relative_to(UNIT_TESTS)) for path in UNIT_TESTS.rglob("test_*.py")}
    - ABOUT_THE_PROJECT
)
STARTS_A_JVM = re.compile(r"pytest\.mark\.(spark|kafka|oracle)\b")
SETTING = re.compile(r'"?(?P<key>[a-z.]+)"? = ')
EXPLANATION = re.compile(r"# \S.*\. [A-Z].*\.$")


@pytest.mark.parametrize("source", SOURCES, ids=str)
def test_a_file_can_be_read_in_one_go(source: Path) -> None:
    assert len((ROOT / source).read_text(encoding="utf-8").splitlines()) <= 400


@pytest.mark.parametrize("room", ROOMS)
def test_each_room_of_the_unit_tests_is_one_of_the_library(room: str) -> None:
    assert (ROOT / "lib" / "group_coordinator" / room).is_dir()


@pytest.mark.parametrize("room", ["unit", "property"])
def test_nothing_starts_a_jvm_where_deploy_local_looks_for_nothing_that_does(room: str) -> None:
    tests = (ROOT / "tests" / room).rglob("test_*.py")

    assert [path for path in tests if STARTS_A_JVM.search(path.read_text(encoding="utf-8"))] == []


def test_the_source_is_not_ignored_by_git() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    ignored = subprocess.run(  # noqa: S603 - a fixed program
        ["git", "check-ignore", *map(str, SOURCES)],  # noqa: S607 - a fixed program
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ignored.stdout == ""
    assert ignored.returncode == 1


PROVIDED_BY_A_CLUSTER = {"pyspark", "py4j", "delta"}
OF_AN_EXTRA = ("agents", "demo", "report")
"""Rooms that commands open after a check of the extra that they need."""


def packages_at_import(source: Path) -> set[str]:
    """Packages of others that a file imports when it is imported itself."""
    names: set[str] = set()
    for node in ast.parse((ROOT / source).read_text(encoding="utf-8")).body:
        match node:
            case ast.Import():
                names |= {each.name for each in node.names}
            case ast.ImportFrom(module=str(module), level=0):
                names.add(module)
    return {name.partition(".")[0] for name in names} - sys.stdlib_module_names


def test_the_wheel_without_extras_has_all_that_a_cluster_does_not_provide() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {re.split(r"[\[<>=]", each)[0] for each in project["dependencies"]}
    of_base = {
        package
        for package, sources in packages_distributions().items()
        if {each.lower().replace("_", "-") for each in sources} & declared
    }
    imported = {
        (package, str(source))
        for source in SOURCES
        if source.parts[2] not in OF_AN_EXTRA
        for package in packages_at_import(source) - {"group_coordinator"} - PROVIDED_BY_A_CLUSTER
    }

    assert sorted(each for each in imported if each[0] not in of_base) == []


def test_every_setting_is_in_the_file_and_used() -> None:
    keys = [match["key"] for line in setting_lines() if (match := SETTING.match(line))]

    assert sorted(keys) == sorted(
        field.name.replace("_", ".")
        for part in (CoordinatorConfig, JobSettings, Security)
        for field in fields(part)
        if field.name != "security"
    )


def test_every_setting_is_explained_on_the_line_above_it() -> None:
    lines = DEFAULTS.read_text(encoding="utf-8").splitlines()

    unexplained = [
        line
        for above, line in pairwise(lines)
        if SETTING.match(line) and not EXPLANATION.match(above)
    ]

    assert unexplained == []


def test_each_exception_from_the_rules_of_security_is_one_line_with_its_reason() -> None:
    files = [
        path for room in ("lib", "jobs", "deploy", "tests") for path in ROOT.glob(f"{room}/**/*.py")
    ]
    lines = [
        f"{file.relative_to(ROOT)}: {line.strip()}"
        for file in files
        for line in file.read_text(encoding="utf-8").splitlines()
        if re.search(r"# noqa:[^-]*\bS\d{3}\b", line)
    ]

    assert [line for line in lines if not re.search(r"# noqa: [A-Z0-9, ]+ - \w", line)] == []
    assert len(lines) > 100
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]
    ignored = rules["lint"]["per-file-ignores"] | {"everywhere": rules["lint"]["ignore"]}
    of_security = {
        place: [rule for rule in rules if re.fullmatch(r"S\d*", rule)]
        for place, rules in ignored.items()
    }
    assert {place: rules for place, rules in of_security.items() if rules} == {"tests/**": ["S101"]}


def setting_lines() -> list[str]:
    return [line for line in DEFAULTS.read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
