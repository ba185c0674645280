from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[3]
LIBRARY = ROOT / "lib" / "group_coordinator"
# The demo's three shows have the same cast.
SOURCES = {
    str(path.relative_to(ROOT)): ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted(LIBRARY.rglob("*.py"))
    if path.relative_to(LIBRARY).parts[0] != "demo"
}
MOST_POSITIONAL = 5


def test_a_public_class_name_is_in_one_file() -> None:
    files: defaultdict[str, set[str]] = defaultdict(set)
    for source, tree in SOURCES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                files[node.name].add(source)

    assert {name: sorted(found) for name, found in files.items() if len(found) > 1} == {}


def test_a_call_with_many_arguments_names_them() -> None:
    calls = [
        f"{source}:{node.lineno}"
        for source, tree in SOURCES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and len(node.args) > MOST_POSITIONAL
    ]

    assert calls == []
