"""The rules of the core name the stories that tell them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CORE = ROOT / "lib" / "group_coordinator" / "core"
CONFORMANCE = ROOT / "tests" / "conformance"
STORIES = re.compile(r"^Stories: (.+)\.$", re.MULTILINE)
STORY = re.compile(r"^@(?:consumer_)?story\(", re.MULTILINE)


def named_by(module: Path) -> list[str]:
    docstring = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    return [file for line in STORIES.findall(docstring) for file in line.split(", ")]


def files_of_stories() -> Iterator[str]:
    for file in sorted((CONFORMANCE / "stories").rglob("*.py")):
        if STORY.search(file.read_text(encoding="utf-8")):
            yield file.relative_to(CONFORMANCE).as_posix()


NAMED = {str(module.relative_to(CORE)): named_by(module) for module in sorted(CORE.rglob("*.py"))}


@pytest.mark.parametrize("module", [module for module, files in NAMED.items() if files])
def test_the_stories_that_a_rule_names_are_there(module: str) -> None:
    assert set(NAMED[module]) <= set(files_of_stories())


@pytest.mark.parametrize("file", files_of_stories())
def test_every_file_of_stories_is_named_by_a_rule(file: str) -> None:
    assert any(file in files for files in NAMED.values())
