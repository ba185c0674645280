from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

LIBRARY = Path(__file__).parents[3] / "lib" / "group_coordinator"
SOURCES = {
    path.relative_to(LIBRARY): ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted(LIBRARY.rglob("*.py"))
}
MOST_POSITIONAL = 5


def test_a_public_class_name_is_in_one_file() -> None:
    files: defaultdict[str, set[str]] = defaultdict(set)
    for source, tree in SOURCES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                files[node.name].add(str(source))

    assert {name: sorted(found) for name, found in files.items() if len(found) > 1} == {}


def test_a_call_with_many_arguments_names_them() -> None:
    calls = [
        f"{source}:{node.lineno}"
        for source, tree in SOURCES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and len(node.args) > MOST_POSITIONAL
    ]

    assert calls == []
