"""The Markdown of the repository: length, links, and the paths that it names; the paths in docstrings and comments."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FOLDERS = (".github", "conf", "deploy", "jobs", "lib", "notebooks", "tests")
PAGES = sorted(
    [ROOT / "README.md", *(page for room in FOLDERS for page in (ROOT / room).rglob("*.md"))]
)
FILES = [str(path) for room in FOLDERS for path in (ROOT / room).rglob("*.*")]
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)")
ENDING = r"\.(?:py|md|toml|txt|ya?ml|json|conf)"
NAMED = re.compile(rf"`((?:[\w.-]+/)+[\w.-]+{ENDING}|[\w-]+\.py)`")
"""A path in a page: a file in a folder, or a module."""
SAID = re.compile(rf"(?<![\w/.<$-])((?:[\w.]+/)+[\w.-]+{ENDING}|\w+\.py)\b")
"""A path in a docstring or comment."""


@cache
def anchors(page: Path) -> frozenset[str]:
    headings = re.findall(
        r"^#+ (.*)$", FENCED.sub("", page.read_text(encoding="utf-8")), re.MULTILINE
    )
    return frozenset(re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-") for text in headings)


def exists(name: str) -> bool:
    """Return True if the file is there. A path begins at the root, or in any folder."""
    return any(path.endswith(f"/{name}") for path in FILES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_is_short_and_names_only_what_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    prose = FENCED.sub("", text)
    links = {(page.parent / to if to else page, anchor) for to, anchor in LINK.findall(prose)}

    assert len(text.splitlines()) <= 350 or page.name == "CHANGELOG.md"
    assert [str(to) for to, _ in links if not to.exists()] == []
    assert [(str(to), name) for to, name in links if name and name not in anchors(to)] == []
    assert [name for name in NAMED.findall(prose) if not exists(name)] == []


def test_docstrings_and_comments_name_only_files_that_are_there() -> None:
    sources = [path for room in ("lib", "jobs") for path in (ROOT / room).rglob("*.py")]
    named = {
        (str(path.relative_to(ROOT)), name)
        for path in sources
        for text in prose_of(path)
        for name in SAID.findall(text)
    }

    assert {(place, name) for place, name in named if not exists(name)} == set()
    assert len(named) > 50


def prose_of(source: Path) -> Iterator[str]:
    text = source.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        # A text that stands alone is a docstring, also that of a constant.
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield str(node.value.value)
    yield from re.findall(r"^ *# (.*)$", text, re.MULTILINE)
