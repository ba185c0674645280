"""The site of deploy/site: complete, strict, searchable, and without files of other hosts."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SITE = ROOT / "deploy" / "site"
FOLDERS = (".github", "conf", "deploy", "jobs", "lib", "notebooks", "tests")
PAGES = [
    "README.md",
    *(str(page.relative_to(ROOT)) for room in FOLDERS for page in (ROOT / room).rglob("*.md")),
]
# The theme's script fetches Mermaid for an element of this class.
LOADS = re.compile(
    r"<(?:script|img|iframe)[^>]* src=\"?http|<link[^>]* href=\"?http|url\(\"?http|class=\"mermaid"
)
WRONG = """
from mkdocs.structure.files import File, InclusionLevel

def on_files(files, config):
    file = File.generated(config, "lib/alone.md", content="# Alone")
    file.inclusion = InclusionLevel.INCLUDED
    files.append(file)

def on_page_markdown(markdown, page, **_):
    if page.file.src_uri == "lib/README.md":
        markdown += "[1](gone.md) [2](../README.md#gone) [3](#gone) [4](gone.toml) [5](readers)"
    return markdown
"""


def build(settings: Path, site: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - this Python
        [sys.executable, "-m", "mkdocs", "build", "--config-file", settings, "--site-dir", site],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    built = build(SITE / "mkdocs.yml", folder)
    assert built.returncode == 0, built.stderr
    return folder


def address(page: str) -> str:
    return re.sub(r"(README)?\.md$", "", page.removeprefix(".")) or "."


def test_every_page_is_in_the_navigation(site: Path) -> None:
    start = (site / "index.html").read_text(encoding="utf-8")
    linked = set(re.findall(r'<a href="([^"#]*?)/?" class="md-nav__link', start))

    assert [page for page in PAGES if address(page).rstrip("/") not in linked] == []


@pytest.mark.parametrize(
    ("term", "page"),
    [
        ("tombstone", "lib/glossary/"),
        ("expiring_soon", "jobs/reference/views/"),
        ("max.offsets.per.trigger", "conf/coordinator.toml/"),
    ],
)
def test_search_finds_a_term(site: Path, term: str, page: str) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))

    assert page in {
        part["location"].partition("#")[0] for part in index["docs"] if term in part["text"]
    }


def test_no_page_loads_a_file_of_another_host(site: Path) -> None:
    files = [*site.rglob("*.html"), *(site / "assets").rglob("*.css"), site / "wide.css"]

    assert len(files) > len(PAGES)
    assert [path for path in files if LOADS.search(path.read_text(encoding="utf-8"))] == []


def test_a_wrong_link_and_a_page_outside_of_the_navigation_fail_the_build(tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text(WRONG, encoding="utf-8")
    settings = tmp_path / "mkdocs.yml"
    settings.write_text(
        f"INHERIT: {SITE}/mkdocs.yml\ndocs_dir: {SITE}/assets\nhooks: [wrong.py, {SITE}/pages.py]\n",
        encoding="utf-8",
    )

    built = build(settings, tmp_path / "site")

    assert built.returncode == 1
    assert "Aborted with 6 warnings in strict mode" in built.stdout, built.stderr
    assert "lib/alone.md" in built.stderr
    for link in ("gone.md", "../README.md#gone", "#gone", "gone.toml", "readers"):
        assert f"link '{link}'" in built.stderr
