"""The Markdown of the repository: length, links, and the paths that it names."""

from __future__ import annotations

import re
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
NAMED = re.compile(r"`((?:[\w.]+/)+[\w.-]+\.(?:py|md|toml|txt|ya?ml|json|conf))`")


@cache
def anchors(page: Path) -> frozenset[str]:
    headings = re.findall(
        r"^#+ (.*)$", FENCED.sub("", page.read_text(encoding="utf-8")), re.MULTILINE
    )
    return frozenset(re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-") for text in headings)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_is_short_and_names_only_what_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    prose = FENCED.sub("", text)
    links = {(page.parent / to if to else page, anchor) for to, anchor in LINK.findall(prose)}

    assert len(text.splitlines()) <= 350 or page.name == "CHANGELOG.md"
    assert [str(to) for to, _ in links if not to.exists()] == []
    assert [(str(to), name) for to, name in links if name and name not in anchors(to)] == []
    assert [
        name for name in NAMED.findall(prose) if not any(f.endswith(f"/{name}") for f in FILES)
    ] == []
