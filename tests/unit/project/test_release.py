"""A release is cut in a clone: what it refuses, and the files up to the push."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from group_coordinator import __version__
from tests.support.job_process import ROOT

VERSION = __version__.partition(".dev")[0]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    folder = tmp_path / "clone"
    run("git", "clone", "--quiet", ROOT, folder, at=tmp_path)
    for name, value in (("name", "Release"), ("email", "release@example.com")):
        run("git", "config", f"user.{name}", value, at=folder)
    return folder


def run(*command: object, at: Path, status: int = 0) -> str:
    ended = subprocess.run(  # noqa: S603 - fixed programs
        [*map(str, command)], cwd=at, capture_output=True, text=True, check=False
    )
    assert ended.returncode == status, ended.stderr
    return ended.stderr if status else ended.stdout


def refused(*command: object, at: Path) -> str:
    [line] = run(*command, at=at, status=2).splitlines()
    return line.removeprefix("Error: ")


def test_a_release_needs_a_version_a_clean_checkout_and_its_changes(clone: Path) -> None:
    cut = clone / "deploy/release/cut"
    wrong = "VERSION = v1 is not MAJOR.MINOR.PATCH: give one such as 0.4.0"
    assert refused(cut, "v1", at=clone) == wrong
    assert "has no section '## 9.9.9 (not released)'" in refused(cut, "9.9.9", at=clone)
    run("git", "tag", f"v{VERSION}", at=clone)
    assert refused(cut, VERSION, at=clone) == f"the tag v{VERSION} exists: give the next version"
    (clone / "README.md").write_text("")
    assert "changes that are not committed" in refused(cut, VERSION, at=clone)


def test_a_tag_that_is_not_the_version_is_not_built(clone: Path) -> None:
    build = clone / "deploy/release/build"
    run("git", "tag", "v9.9.9", at=clone)
    assert f"the tag v9.9.9 is not v{__version__}" in refused(build, "files", at=clone)
    assert "lib exists" in refused(build, "lib", at=clone)


@pytest.mark.nightly
def test_a_release_is_cut_up_to_the_push(clone: Path) -> None:
    said = run(clone / "deploy/release/cut", VERSION, at=clone)

    assert said.splitlines()[-1].endswith(f"git push origin HEAD v{VERSION}")
    assert run("git", "describe", "--exact-match", at=clone) == f"v{VERSION}\n"
    files = clone / "dist"
    assert sorted(file.name for file in (files / "packages").iterdir()) == [
        f"spark_group_coordinator-{VERSION}-py3-none-any.whl",
        f"spark_group_coordinator-{VERSION}.tar.gz",
    ]
    assert run("sha256sum", "--check", "SHA256SUMS", at=files).count(": OK\n") == 4
    assert (files / "notes.md").read_text().strip() in (ROOT / ".github/CHANGELOG.md").read_text()
    bill = json.loads((files / "sbom.cdx.json").read_text())
    component = bill["metadata"]["component"]
    assert (component["name"], component["version"]) == ("spark-group-coordinator", VERSION)
    brought = {each["name"] for each in bill["components"]}
    assert "deltalake" in brought
    assert "pip" not in brought
