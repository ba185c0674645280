from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.conformance.stories import STORIES

ROOT = Path(__file__).parents[3]
CONFORMANCE = ROOT / "tests" / "conformance"
CHECKLIST = sorted((CONFORMANCE / "checklist").glob("*.md"))
LINES = [line for page in CHECKLIST for line in page.read_text(encoding="utf-8").splitlines()]
HEADER = ("Kafka's test", "ours")
QUOTED = re.compile(r"`([^`]*::[^`]*)`")
PAGES = (*CHECKLIST, CONFORMANCE / "README.md")
REFERENCES = sorted({ref for page in PAGES for ref in QUOTED.findall(page.read_text("utf-8"))})


def rows() -> Iterator[tuple[str, list[str], str]]:
    """The class of Kafka's, the tests of a row, and what is said about them."""
    section = ""
    for line in LINES:
        if line.startswith("## "):
            section = line.removeprefix("## ")
        elif line.startswith("| "):
            names, ours = line.strip("| ").split(" | ")
            if (names, ours) != HEADER:
                yield section, names.split(", "), ours


@cache
def functions(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def test_no_test_of_a_class_appears_twice() -> None:
    found = Counter((section, name) for section, names, _ in rows() for name in names)

    assert [key for key, times in found.items() if times > 1] == []
    assert all(re.fullmatch(r"\w+", name) for _, name in found)


def test_something_is_said_about_every_test() -> None:
    assert [names for _, names, ours in rows() if not ours.strip()] == []


@pytest.mark.parametrize("reference", REFERENCES)
def test_what_is_referred_to_exists(reference: str) -> None:
    file, _, name = reference.partition("::")
    if file.startswith("stories/"):
        assert name in STORIES
        assert name in functions(CONFORMANCE / file)
    else:
        assert name.startswith("test_")
        assert name in functions(ROOT / file)
